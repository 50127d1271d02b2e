package data

import (
	"fmt"
	"hash/maphash"
	"io"
	"io/fs"
	"sync/atomic"
	"time"

	"github.com/bnctl/bnctl/data/internal/stream"
	"github.com/bnctl/bnctl/internal/regular"
	"github.com/bnctl/bnctl/problem"
)

// listedFile is the state of a file when its folder was listed. A run has one fingerprint of its data, so
// every read during the run must return the same content.
//
// Each read compares the size and the modification time. The first read stores a sum of the content, and
// later reads compare the sum too. So a change that keeps size and time is found, and a file that was only
// touched is accepted.
type listedFile struct {
	path     string
	size     int64
	modified time.Time
	sum      atomic.Uint64 // sum of the content, by sumOf; 0 before the first read
}

func newListedFile(path string, info fs.FileInfo) *listedFile {
	return &listedFile{path: path, size: info.Size(), modified: info.ModTime()}
}

// sumSeed is different in every process. Sums of contents are compared only within a process.
var sumSeed = maphash.MakeSeed()

// sumOf returns a sum of content. It is never 0.
func sumOf(content []byte) uint64 { return maphash.Bytes(sumSeed, content) | 1 }

// read returns the content of the file, or an error if the file has changed.
func (l *listedFile) read() ([]byte, error) {
	f, err := regular.Open(l.path)
	if err != nil {
		return nil, stream.WithoutPath(err)
	}
	defer f.Close()
	before, err := f.Stat()
	if err != nil {
		return nil, stream.WithoutPath(err)
	}
	content, err := readSized(f, before.Size())
	if err != nil {
		return nil, stream.WithoutPath(err)
	}
	after, err := f.Stat()
	if err != nil {
		return nil, stream.WithoutPath(err)
	}
	return content, l.check(content, before, after)
}

// check compares content with the state of the file when it was listed. before and after are the states of
// the file before and after it was read.
func (l *listedFile) check(content []byte, before, after fs.FileInfo) error {
	sum, was := sumOf(content), l.sum.Load()
	for _, now := range []fs.FileInfo{before, after} {
		if was == 0 && !l.isState(now) {
			return l.changed("it had %s and was modified %s, and has %s, modified %s",
				problem.Plural(int(l.size), "byte"), timeOf(l.modified), problem.Plural(int(now.Size()), "byte"),
				timeOf(now.ModTime()))
		}
	}
	if was == 0 && !l.sum.CompareAndSwap(0, sum) {
		was = l.sum.Load()
	}
	if was != 0 && was != sum {
		return l.changed("its content is not that of the first reading")
	}
	return nil
}

func (l *listedFile) isState(now fs.FileInfo) bool {
	return now.Size() == l.size && now.ModTime().Equal(l.modified)
}

func (l *listedFile) changed(format string, args ...any) error {
	return problem.Advise("start again, with data that stays as it is",
		"the file has changed since the data was opened: %s", fmt.Sprintf(format, args...))
}

func timeOf(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05.000 UTC") }

// readSized reads r to its end. r should have size bytes, but may have up to maxFileBytes.
func readSized(r io.Reader, size int64) ([]byte, error) {
	if size < 0 || size >= maxFileBytes {
		return readBounded(r, maxFileBytes)
	}
	b := make([]byte, size+1)
	n, err := io.ReadFull(r, b)
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return b[:n:n], nil
	}
	if err != nil {
		return nil, err
	}
	rest, err := readBounded(r, maxFileBytes-int64(n))
	return append(b, rest...), err
}

// holdUnchanged makes the reads of samples in folders fail if a file has changed since it was listed.
func holdUnchanged(samples []sampleFile) {
	for i := range samples {
		s := &samples[i]
		for _, m := range []*member{&s.member, &s.mask} {
			if m.listed != nil {
				m.read = m.listed.read
			}
		}
	}
}
