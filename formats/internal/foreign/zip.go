package foreign

import (
	"archive/zip"
	"cmp"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"slices"

	"github.com/bnctl/bnctl/problem"
)

// maxDirectory is the size limit of a zip directory, in bytes; 100 bytes per entry are
// usual.
const maxDirectory = 4 << 20

// Entry is a member of a zip archive.
type Entry struct {
	Name   string
	Offset int64 // offset of its bytes in the archive
	Size   int64 // number of its stored bytes
	CRC32  uint32

	method uint16
}

// Zip is an archive with contiguous members. Compressed ones are listed but cannot be read.
type Zip struct {
	Entries []Entry // entries in the directory's order
	byName  map[string]int
	src     io.ReaderAt
}

// OpenZip reads the directory of an archive. It rejects duplicate names and members that
// overlap, so the members together are not larger than the archive.
func OpenZip(src io.ReaderAt, size int64) (*Zip, error) {
	budget := &budgeted{src, maxDirectory}
	archive, err := zip.NewReader(budget, size)
	if err != nil {
		return nil, fmt.Errorf("zip directory: %w", err)
	}
	budget.remaining = math.MaxInt64
	z := &Zip{src: src, byName: make(map[string]int, len(archive.File))}
	for _, f := range archive.File {
		if _, twice := z.byName[f.Name]; twice {
			return nil, fmt.Errorf("zip member %q: occurs twice", f.Name)
		}
		e, err := z.entry(f, size)
		if err != nil {
			return nil, fmt.Errorf("zip member %q: %w", f.Name, err)
		}
		z.byName[f.Name] = len(z.Entries)
		z.Entries = append(z.Entries, e)
	}
	return z, z.checkOverlap()
}

func (z *Zip) entry(f *zip.File, size int64) (Entry, error) {
	off, err := f.DataOffset()
	if err != nil {
		return Entry{}, err
	}
	if off > size || f.CompressedSize64 > uint64(size-off) {
		return Entry{}, fmt.Errorf("%d bytes at offset %d end beyond the archive's %d bytes",
			f.CompressedSize64, off, size)
	}
	if f.Method == zip.Store && f.CompressedSize64 != f.UncompressedSize64 {
		return Entry{}, fmt.Errorf("stored in %d bytes, and %d bytes long",
			f.CompressedSize64, f.UncompressedSize64)
	}
	size = int64(f.CompressedSize64)
	return Entry{Name: f.Name, Offset: off, Size: size, CRC32: f.CRC32, method: f.Method}, nil
}

func (z *Zip) checkOverlap() error {
	sorted := slices.Clone(z.Entries)
	slices.SortFunc(sorted, func(a, b Entry) int { return cmp.Compare(a.Offset, b.Offset) })
	for i := 1; i < len(sorted); i++ {
		if a, b := sorted[i-1], sorted[i]; a.Offset+a.Size > b.Offset {
			return fmt.Errorf("zip members %q and %q overlap at offset %d", a.Name, b.Name, b.Offset)
		}
	}
	return nil
}

// Entry returns the member with that name.
func (z *Zip) Entry(name string) (Entry, bool) {
	i, ok := z.byName[name]
	if !ok {
		return Entry{}, false
	}
	return z.Entries[i], true
}

// Stored returns an error unless the bytes of e are stored as they are.
func (e Entry) Stored() error {
	if e.method == zip.Store {
		return nil
	}
	return problem.Advise("unpack the archive and pack it again with zip -0",
		"zip member %q is compressed (method %d); only stored members are read", e.Name, e.method)
}

// Open returns a reader of the bytes of e. It does not check them against the CRC-32.
func (z *Zip) Open(e Entry) *io.SectionReader { return io.NewSectionReader(z.src, e.Offset, e.Size) }

// ReadAll returns the bytes of e, which may be at most limit, checked against
// its CRC-32.
func (z *Zip) ReadAll(e Entry, limit int64) ([]byte, error) {
	if e.Size > limit {
		return nil, fmt.Errorf("zip member %q: %d bytes; at most %d are supported", e.Name, e.Size, limit)
	}
	if err := e.Stored(); err != nil {
		return nil, err
	}
	b := make([]byte, e.Size)
	if _, err := io.ReadFull(z.Open(e), b); err != nil {
		return nil, fmt.Errorf("zip member %q: %w", e.Name, err)
	}
	return b, e.CheckCRC(crc32.ChecksumIEEE(b))
}

// Verify reads the bytes of e and checks them against its CRC-32.
func (z *Zip) Verify(e Entry) error {
	if err := e.Stored(); err != nil {
		return err
	}
	sum := crc32.NewIEEE()
	if _, err := io.Copy(sum, z.Open(e)); err != nil {
		return fmt.Errorf("zip member %q: %w", e.Name, err)
	}
	return e.CheckCRC(sum.Sum32())
}

// CheckCRC compares the CRC-32 of the bytes that were read with the stored one.
func (e Entry) CheckCRC(got uint32) error {
	if got != e.CRC32 {
		return fmt.Errorf("zip member %q: the file is damaged: CRC-32 is %08x, the directory says %08x",
			e.Name, got, e.CRC32)
	}
	return nil
}

// budgeted is a reader that reads at most remaining bytes.
type budgeted struct {
	src       io.ReaderAt
	remaining int64
}

func (b *budgeted) ReadAt(p []byte, off int64) (int, error) {
	if b.remaining -= int64(len(p)); b.remaining < 0 {
		return 0, fmt.Errorf("larger than %d bytes", maxDirectory)
	}
	return b.src.ReadAt(p, off)
}
