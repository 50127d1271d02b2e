package main

import (
	"io"
	"net"
	"os"
	"syscall"
	"unsafe"
)

// dial connects to an address.
type dial func(address string) (net.Conn, error)

// dialShared opens a connection that carries many requests at the same time.
func dialShared(address string) (net.Conn, error) { return net.Dial("tcp", address) }

// dialBare opens a connection that carries one request at a time. Its thread waits in the kernel. Waiting in
// Go's runtime would cost tens of microseconds on the server's core.
func dialBare(address string) (net.Conn, error) {
	c, err := net.Dial("tcp", address)
	if err != nil {
		return nil, err
	}
	file, err := c.(*net.TCPConn).File()
	if err == nil {
		err = syscall.SetNonblock(int(file.Fd()), false)
	}
	return bare{c, file}, err
}

type bare struct {
	net.Conn
	file *os.File // reads and writes block the thread
}

// Read implements net.Conn, as Write does.
func (b bare) Read(p []byte) (int, error) {
	n, err := b.call(syscall.SYS_READ, p)
	if n == 0 && err == nil && len(p) > 0 {
		err = io.EOF
	}
	return n, err
}

func (b bare) Write(p []byte) (n int, err error) {
	for n < len(p) && err == nil {
		var more int
		more, err = b.call(syscall.SYS_WRITE, p[n:])
		n += more
	}
	return n, err
}

func (b bare) call(number uintptr, p []byte) (int, error) {
	for {
		n, _, err := syscall.RawSyscall(number, b.file.Fd(), uintptr(unsafe.Pointer(unsafe.SliceData(p))),
			uintptr(len(p)))
		switch err {
		case 0:
			return int(n), nil
		case syscall.EINTR, syscall.EAGAIN:
		default:
			return 0, err
		}
	}
}

// Close implements net.Conn.
func (b bare) Close() error {
	b.file.Close()
	return b.Conn.Close()
}
