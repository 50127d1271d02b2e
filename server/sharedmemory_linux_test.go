package server

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// memoryFile returns a file of shared memory with these bytes and seals.
func memoryFile(t *testing.T, b []byte, seals int) *os.File {
	t.Helper()
	fd, err := unix.MemfdCreate("test", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if err != nil {
		t.Fatal(err)
	}
	f := os.NewFile(uintptr(fd), "test")
	t.Cleanup(func() { f.Close() })
	if _, err = f.Write(b); err == nil && seals != 0 {
		_, err = unix.FcntlInt(f.Fd(), unix.F_ADD_SEALS, seals)
	}
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// unixServer serves mlp-bn on a socket in the file system.
func unixServer(t *testing.T) (*Server, string) {
	t.Helper()
	folder, err := os.MkdirTemp("", "b") // the path of a socket must be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(folder) })
	o := on("ref", write(t, newModel(t, 1), "m.bnm"))
	path := filepath.Join(folder, "s")
	o.HTTP, o.Request = "unix:"+path, 1<<20
	return start(t, o), path
}

// memoryClient is a stream of rows on a socket in the file system.
type memoryClient struct {
	*rowClient
	conn *net.UnixConn
}

func dialMemory(t *testing.T, path string) *memoryClient {
	t.Helper()
	c, err := net.Dial("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	k := &rowClient{keptOpen: &keptOpen{Conn: c, r: bufio.NewReader(c)}}
	fmt.Fprintf(c, "GET /v2/models/m/predict HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: %s\r\n\r\n",
		rowsProtocol)
	r, err := http.ReadResponse(k.r, nil)
	if err != nil || r.StatusCode != http.StatusSwitchingProtocols || r.Header.Get(sharedMemoryHeader) != "1" {
		t.Fatalf("%v, %v", r, err)
	}
	return &memoryClient{k, c.(*net.UnixConn)}
}

// share sends a request of size bytes in shared memory, with files.
func (k *memoryClient) share(size int, files ...*os.File) error {
	m := binary.LittleEndian.AppendUint64(nil, 1<<32)
	m = binary.LittleEndian.AppendUint64(m, uint64(size))
	var handles []int
	for _, f := range files {
		handles = append(handles, int(f.Fd()))
	}
	var control []byte
	if len(handles) > 0 {
		control = unix.UnixRights(handles...)
	}
	_, _, err := k.conn.WriteMsgUnix(m, control, nil)
	return err
}

const sealed = unix.F_SEAL_SHRINK | unix.F_SEAL_GROW | unix.F_SEAL_SEAL

// TestSharedMemory compares answers to rows in shared memory with answers to rows that are sent. The memory is
// used again, and replaced by larger memory.
func TestSharedMemory(t *testing.T) {
	_, path := unixServer(t)
	k, sent, draw := dialMemory(t, path), dialMemory(t, path), rand.New(rand.NewPCG(3, 1))
	var memory *os.File
	for i, n := range []int{2, 1, 2, 9, 3, 9} {
		x := pictures(draw, n).Bytes
		var files []*os.File
		if i == 0 || i == 3 {
			memory = memoryFile(t, x, sealed)
			files = append(files, memory)
		} else if _, err := memory.WriteAt(x, 0); err != nil {
			t.Fatal(err)
		}
		if err := k.share(len(x), files...); err != nil {
			t.Fatal(err)
		}
		status, _, got, err := k.receive()
		wantStatus, _, want := sent.ask(t, 0, x)
		if err != nil || status != 200 || wantStatus != 200 || !bytes.Equal(got, want) {
			t.Errorf("request %d: %d, %v, other elements", i, status, err)
		}
	}
}

// TestSharedMemoryIsRefused sends memory that the server must not use. Each request gets an error, and the stream
// can be used afterwards.
func TestSharedMemoryIsRefused(t *testing.T) {
	s, path := unixServer(t)
	x := pictures(rand.New(rand.NewPCG(3, 1)), 1).Bytes
	plain, err := os.Create(filepath.Join(t.TempDir(), "plain"))
	if err != nil {
		t.Fatal(err)
	}
	defer plain.Close()
	if err := plain.Truncate(1 << 12); err != nil {
		t.Fatal(err)
	}
	hollow := memoryFile(t, nil, 0)
	if err := hollow.Truncate(1 << 16); err != nil {
		t.Fatal(err)
	}
	if _, err := unix.FcntlInt(hollow.Fd(), unix.F_ADD_SEALS, sealed); err != nil {
		t.Fatal(err)
	}
	pipe, _, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer pipe.Close()
	before := openFiles(t)
	k := dialMemory(t, path)
	for _, c := range []struct {
		file *os.File
		size int
		want int
		text string
	}{
		{nil, 784, 400, "memory that has these bytes"},
		{memoryFile(t, x, 0), 784, 501, "not memory with a fixed length"},
		{memoryFile(t, x, unix.F_SEAL_GROW), 784, 501, "not memory with a fixed length"},
		{plain, 784, 501, "not memory with a fixed length"},
		{pipe, 784, 501, "not memory with a fixed length"},
		{hollow, 784, 501, "bytes are allocated"},
		{memoryFile(t, make([]byte, 1<<20+1), sealed), 784, 501, "want 1 to 1048576"},
		{memoryFile(t, nil, sealed), 784, 501, "it has 0 bytes"},
		{memoryFile(t, x, sealed), 785, 400, "memory that has these bytes"},
		{nil, 783, 400, ""}, // of the memory that was accepted last
		{nil, 784, 200, ""},
	} {
		var files []*os.File
		if c.file != nil {
			files = append(files, c.file)
		}
		if err := k.share(c.size, files...); err != nil {
			t.Fatal(err)
		}
		status, text, _, err := k.receive()
		if err != nil || status != c.want || !strings.Contains(string(text), c.text) {
			t.Errorf("%d bytes: %d %s, %v; want %d %s", c.size, status, text, err, c.want, c.text)
		}
	}
	if err := k.share(784, memoryFile(t, x, sealed), memoryFile(t, x, sealed)); err != nil {
		t.Fatal(err)
	}
	if _, _, _, err := k.receive(); err == nil {
		t.Error("two files at once are accepted")
	}
	k.conn.Close()
	until(t, "the end of the stream", func() bool { return s.budget.conns.count() == 0 })
	if after := openFiles(t); after > before+7 { // the memory of this test
		t.Errorf("%d open files, before %d", after, before)
	}
}

// openFiles returns the number of file descriptors of this process.
func openFiles(t *testing.T) int {
	t.Helper()
	all, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(all)
}

// TestSharedMemoryOnTCP checks that a stream on TCP does not offer shared memory.
func TestSharedMemoryOnTCP(t *testing.T) {
	s := start(t, on("ref", write(t, newModel(t, 1), "m.bnm")))
	c, err := net.Dial("tcp", s.HTTP())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	fmt.Fprintf(c, "GET /v2/models/m/predict HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: %s\r\n\r\n",
		rowsProtocol)
	r, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil || r.StatusCode != http.StatusSwitchingProtocols || r.Header.Get(sharedMemoryHeader) != "" {
		t.Fatalf("%v, %v", r, err)
	}
}

// TestGarbageOnASocket sends random messages, some with files, and breaks streams off. The server must answer a
// valid stream afterwards, and keep neither files nor memory.
func TestGarbageOnASocket(t *testing.T) {
	s, path := unixServer(t)
	draw := rand.New(rand.NewPCG(8, 2))
	before := openFiles(t)
	for range 60 {
		k := dialMemory(t, path)
		f := memoryFile(t, pictures(draw, 1+draw.IntN(20)).Bytes, sealed)
		for range 1 + draw.IntN(6) {
			m := binary.LittleEndian.AppendUint32(nil, uint32(draw.IntN(2)*draw.IntN(2000)))
			m = binary.LittleEndian.AppendUint32(m, uint32(draw.IntN(3)))
			m = binary.LittleEndian.AppendUint64(m, uint64(draw.IntN(20000))<<(48*draw.IntN(2)*draw.IntN(2)))
			m = m[:len(m)-draw.IntN(2)*draw.IntN(16)]
			var control []byte
			if draw.IntN(2) == 0 {
				control = unix.UnixRights(int(f.Fd()))
			}
			if _, _, err := k.conn.WriteMsgUnix(m, control, nil); err != nil {
				break
			}
		}
		k.conn.Close()
		f.Close()
	}
	until(t, "the end of all streams", func() bool {
		return s.budget.conns.count() == 0 && s.active.Load() == 0 && s.budget.requestBytes() == 0
	})
	if after := openFiles(t); after > before {
		t.Errorf("%d open files, before %d", after, before)
	}
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil || bytes.Contains(maps, []byte("memfd:test")) {
		t.Errorf("memory is still mapped, %v", err)
	}
	k := dialMemory(t, path)
	x := pictures(draw, 1).Bytes
	if err := k.share(len(x), memoryFile(t, x, sealed)); err != nil {
		t.Fatal(err)
	}
	if status, _, _, err := k.receive(); err != nil || status != 200 {
		t.Errorf("%d, %v", status, err)
	}
}
