package server

import (
	"errors"
	"fmt"
	"net"
	"os"

	"golang.org/x/sys/unix"

	"github.com/bnctl/bnctl/problem"
)

// receivesFiles reports whether clients of this connection may pass file descriptors.
func receivesFiles(c net.Conn) bool {
	_, ok := c.(*net.UnixConn)
	return ok
}

// readWithFile fills b, and returns the file that the client has passed with these bytes, or nil. It closes
// all other files that the client has passed. If it returns an error, it returns no file.
func readWithFile(c net.Conn, b []byte) (file *os.File, err error) {
	const mostFiles = 2
	control := make([]byte, unix.CmsgSpace(4*mostFiles))
	for have := 0; have < len(b) && err == nil; {
		var n, controls int
		n, controls, _, _, err = c.(*net.UnixConn).ReadMsgUnix(b[have:], control)
		for _, f := range files(control[:controls]) {
			if file == nil {
				file = f
			} else {
				f.Close()
				err = errors.Join(err, errors.New("several files at once"))
			}
		}
		if have += n; n == 0 && err == nil {
			err = net.ErrClosed
		}
	}
	if err != nil && file != nil {
		file.Close()
		file = nil
	}
	return file, err
}

// files returns the files in control messages.
func files(control []byte) (all []*os.File) {
	messages, err := unix.ParseSocketControlMessage(control)
	if err != nil {
		return nil
	}
	for i := range messages {
		descriptors, err := unix.ParseUnixRights(&messages[i])
		if err != nil {
			continue
		}
		for _, d := range descriptors {
			all = append(all, os.NewFile(uintptr(d), "shared memory"))
		}
	}
	return all
}

// mapSealed maps the memory in a file, if its length is fixed and not more than most.
func mapSealed(f *os.File, most int64) ([]byte, error) {
	seals, err := unix.FcntlInt(f.Fd(), unix.F_GET_SEALS, 0)
	if err != nil || seals&unix.F_SEAL_SHRINK == 0 {
		return nil, fmt.Errorf("it is not memory with a fixed length")
	}
	var at unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &at); err != nil {
		return nil, err
	}
	if at.Size < 1 || at.Size > most {
		return nil, fmt.Errorf("it has %s; want 1 to %d", problem.Plural(int(at.Size), "byte"), most)
	}
	if at.Blocks*512 < at.Size {
		return nil, fmt.Errorf("only %d of %s are allocated", at.Blocks*512, problem.Plural(int(at.Size), "byte"))
	}
	return unix.Mmap(int(f.Fd()), 0, int(at.Size), unix.PROT_READ, unix.MAP_SHARED)
}

func unmap(b []byte) { _ = unix.Munmap(b) }
