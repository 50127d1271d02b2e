package torch

import (
	"archive/zip"
	"fmt"
	"hash/crc32"
	"io"
	"strings"

	"github.com/bnctl/bnctl/formats/internal/foreign"
)

const (
	stem      = "archive" // the folder that torch.save uses when it has no file name
	alignment = 64        // alignment of the elements in the archive, equal to that of torch.save
)

// Write writes tensors as a state dict: a zip archive that torch.load, also with
// weights_only, reads as an OrderedDict with the same names, order, types and shapes. The
// names of classes, if there are any, are its attribute labels, which torch.load ignores;
// _metadata has the version of the outermost module. One tensor at a time is in memory.
func Write(w io.Writer, tensors []foreign.Tensor, labels ...string) error {
	out := &counter{w: w}
	z := &writer{zip: zip.NewWriter(out), out: out}
	if err := z.member("data.pkl", stateDictPickle(tensors, labels)); err != nil {
		return err
	}
	if err := z.member("byteorder", []byte("little")); err != nil {
		return err
	}
	var buf []byte
	for i, t := range tensors {
		if n := t.Size(); cap(buf) < n {
			buf = make([]byte, n)
		}
		if err := t.ReadInto(buf[:t.Size()]); err != nil {
			return err
		}
		if err := z.member(fmt.Sprintf("data/%d", i), buf[:t.Size()]); err != nil {
			return fmt.Errorf("%s: %w", t.Name, err)
		}
	}
	if err := z.member("version", []byte("3\n")); err != nil {
		return err
	}
	return z.zip.Close()
}

// writer writes stored members with aligned bytes.
type writer struct {
	zip *zip.Writer
	out *counter
}

func (z *writer) member(name string, data []byte) error {
	if err := z.zip.Flush(); err != nil {
		return err
	}
	h := &zip.FileHeader{Name: stem + "/" + name, Method: zip.Store, CRC32: crc32.ChecksumIEEE(data),
		CompressedSize64: uint64(len(data)), UncompressedSize64: uint64(len(data))}
	h.Extra = padding(z.out.n + localHeader + int64(len(h.Name)))
	w, err := z.zip.CreateRaw(h)
	if err != nil {
		return err
	}
	_, err = w.Write(data)
	return err
}

// localHeader is the fixed part of a member's header, in bytes.
const localHeader = 30

// padding returns an extra field that aligns the bytes after it, for a field at the given offset.
func padding(offset int64) []byte {
	const head = 4 // 'F', 'B' and a length of two bytes
	n := (alignment - int((offset+head)%alignment)) % alignment
	return append([]byte{'F', 'B', byte(n), 0}, strings.Repeat("Z", n)...)
}

// counter counts the bytes written.
type counter struct {
	w io.Writer
	n int64
}

func (c *counter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.n += int64(n)
	return n, err
}
