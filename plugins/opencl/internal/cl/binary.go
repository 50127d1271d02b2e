package cl

import (
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"unsafe"

	"github.com/bnctl/bnctl/internal/regular"
)

// binary is a built program in a file. A failure to read or write it costs a build, but is
// not an error.
type binary struct {
	queue  *Queue
	device Device
	file   string // path of the file; "": the program is not stored
}

// cacheFile returns the path of a program for a device in a folder. The name depends on the
// source, the device and the driver.
func cacheFile(folder string, d Device, source string) string {
	if folder == "" {
		return ""
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %q %q %q %q", d.PlatformName, d.Name, d.Version, d.Driver, source))
	return filepath.Join(folder, fmt.Sprintf("%x.bin", sum[:16]))
}

// load makes the program from the file, and reports whether it did.
func (b binary) load() bool {
	data, err := os.ReadFile(b.file)
	if err != nil || len(data) <= sha256.Size || sha256.Sum256(data[sha256.Size:]) != [32]byte(data[:32]) {
		return false
	}
	data = data[sha256.Size:]
	q, size, first := b.queue, uintptr(len(data)), &data[0]
	var status, code int32
	q.program = q.a.fromBinary(q.context, 1, &b.device.id, &size, &first, &status, &code)
	if code == 0 && status == 0 && q.compile(b.device) == nil {
		return true
	}
	if q.program != 0 {
		q.a.releaseProgram(q.program)
		q.program = 0
	}
	return false
}

// save writes the program to the file, after its SHA-256.
func (b binary) save() {
	const sizes, binaries = 0x1165, 0x1166
	q := b.queue
	var size uintptr
	if b.file == "" || q.a.programInfo(q.program, sizes, unsafe.Sizeof(size), unsafe.Pointer(&size), nil) != 0 ||
		size == 0 || size > mostBinary {
		return
	}
	data := make([]byte, size)
	first := &data[0]
	if q.a.programInfo(q.program, binaries, unsafe.Sizeof(first), unsafe.Pointer(&first), nil) != 0 {
		return
	}
	sum := sha256.Sum256(data)
	if os.MkdirAll(filepath.Dir(b.file), 0o700) != nil {
		return
	}
	_ = regular.WriteFile(b.file, 0o600, func(w io.Writer) error {
		_, err := w.Write(append(sum[:], data...))
		return err
	})
}

// mostBinary is far above the size of the kernels built by any driver.
const mostBinary = 256 << 20
