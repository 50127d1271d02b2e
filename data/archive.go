package data

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"path"
	"strings"

	"github.com/bnctl/bnctl/data/internal/stream"
	"github.com/bnctl/bnctl/problem"
)

// readTar reads those members of a tar that keep accepts into memory. They stay encoded. It writes nothing to
// disk, so no name or link can make it write outside of a folder. Nevertheless a name that points outside of
// the archive, and a link, are errors.
func readTar(r io.Reader, keep func(string) bool) (*tree, error) {
	t := &tree{close: func() error { return nil }}
	wanted := t.counting(keep)
	end := &tarEnd{r: r}
	archive := tar.NewReader(end)
	last, total := "the start", int64(0)
	for {
		end.zeros = 0
		h, err := archive.Next()
		if err == io.EOF && end.found() {
			return t, nil
		}
		if err != nil {
			return nil, fmt.Errorf("the archive breaks off after %s: %w", last, stream.CutShort(err))
		}
		name, err := memberName(h.Name)
		if err != nil {
			return nil, err
		}
		last = "member " + name
		if h.Typeflag == tar.TypeDir || h.Typeflag == tar.TypeXGlobalHeader || !wanted(name) {
			continue
		}
		if h.Typeflag != tar.TypeReg {
			return nil, problem.Advise("pack with tar --dereference", "member %s: a link or special file",
				name)
		}
		if total += h.Size; total > maxArchiveBytes {
			return nil, problem.Advise("unpack the archive to a folder",
				"member %s: up to it there are more than %d bytes", name, int64(maxArchiveBytes))
		}
		if err := t.add(member{name: name, size: h.Size}); err != nil {
			return nil, err
		}
		b, err := readBounded(archive, maxFileBytes)
		if err != nil {
			return nil, fmt.Errorf("member %s: %w", name, stream.CutShort(err))
		}
		t.members[len(t.members)-1].read = func() ([]byte, error) { return b, nil }
	}
}

// tarEnd is a reader that looks for the block of zeros at the end of an archive, because archive/tar also
// accepts an archive that is truncated between two members.
type tarEnd struct {
	r     io.Reader
	zeros int // zero bytes at the end of the data read so far
}

// Read implements io.Reader.
func (e *tarEnd) Read(b []byte) (int, error) {
	n, err := e.r.Read(b)
	tail := len(bytes.TrimRight(b[:n], "\x00"))
	if tail > 0 {
		e.zeros = 0
	}
	e.zeros += n - tail
	return n, err
}

// found reports whether the archive ends with a block of zeros. The format requires two such blocks, but
// some programs write only one.
func (e *tarEnd) found() bool { return e.zeros >= 512 }

// readTarGz reads a gzipped tar to its end. This also checks gzip's checksum. packed is the size of the
// compressed file.
func readTarGz(r io.Reader, packed int64, keep func(string) bool) (*tree, error) {
	z, err := gzip.NewReader(r)
	if err != nil {
		return nil, stream.CutShort(err)
	}
	limit := &unpackLimit{r: z, remaining: unpackedLimit(packed)}
	t, err := readTar(limit, keep)
	if err != nil {
		return nil, err
	}
	if _, err := io.Copy(io.Discard, limit); err != nil {
		return nil, fmt.Errorf("after the last member: %w", stream.CutShort(err))
	}
	return t, nil
}

// unpackedLimit returns the largest accepted unpacked size of a compressed file with the given size. Because
// of the constant, a small file may exceed maxArchiveRatio.
func unpackedLimit(packed int64) int64 { return 64<<20 + maxArchiveRatio*packed }

// unpackLimit is a reader that fails if a file unpacks to more than its limit.
type unpackLimit struct {
	r         io.Reader
	remaining int64
}

// Read reads until the limit is reached.
func (u *unpackLimit) Read(b []byte) (int, error) {
	n, err := u.r.Read(b)
	if u.remaining -= int64(n); u.remaining < 0 {
		return 0, fmt.Errorf("it unpacks to more than %d times its size", maxArchiveRatio)
	}
	return n, err
}

// openZip lists those members of a zip that keep accepts. Their content is read from f when it is needed.
// done closes f.
func openZip(f io.ReaderAt, size int64, done func() error, keep func(string) bool) (*tree, error) {
	t := &tree{close: done}
	wanted := t.counting(keep)
	archive, err := zip.NewReader(f, size)
	if err == nil {
		err = t.addZip(archive, wanted)
	}
	if err != nil {
		_ = done()
		return nil, err
	}
	return t, nil
}

func (t *tree) addZip(archive *zip.Reader, wanted func(string) bool) error {
	for _, f := range archive.File {
		name, err := memberName(f.Name)
		if err != nil {
			return err
		}
		if f.Mode().IsDir() || !wanted(name) {
			continue
		}
		if !f.Mode().IsRegular() {
			return problem.Advise("pack the files themselves", "member %s: a link or special file", name)
		}
		if f.Flags&1 != 0 {
			return fmt.Errorf("member %s: it is encrypted", name)
		}
		declared := int64(min(f.UncompressedSize64, 1<<62))
		m := member{name: name, size: declared, read: func() ([]byte, error) { return readZipped(f) }}
		if err := t.add(m); err != nil {
			return err
		}
	}
	return nil
}

// readZipped unpacks a member. The size that the archive declares for it was checked before. readZipped
// itself compares the length and the CRC-32, because archive/zip skips the comparison if the CRC-32 in the
// archive's directory is 0.
func readZipped(f *zip.File) ([]byte, error) {
	r, err := f.Open()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	b, err := readBounded(r, int64(f.UncompressedSize64))
	if err == nil && (uint64(len(b)) != f.UncompressedSize64 || crc32.ChecksumIEEE(b) != f.CRC32) {
		err = zip.ErrChecksum
	}
	return b, stream.CutShort(err)
}

// memberName returns the cleaned name of a member, or an error for a name that points outside of the archive.
func memberName(raw string) (string, error) {
	name := path.Clean(strings.ReplaceAll(raw, `\`, "/"))
	if !fs.ValidPath(name) {
		return "", fmt.Errorf("member %q: its name leads out of the archive", raw)
	}
	return name, nil
}
