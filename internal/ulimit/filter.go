package ulimit

import (
	"bytes"
	"io"
	"regexp"
	"sync"
)

// filter copies a program's standard error, up to a dump of the Go runtime, which it keeps.
type filter struct {
	w    io.Writer
	line []byte // line that has not ended yet
	dump []byte // the dump from its first line on; nil without a dump
}

// maxDump bounds the dump that is kept, in bytes.
const maxDump = 1 << 20

var (
	dumpBegins = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^(runtime: |fatal error: )`)
	})
	memoryEnds = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?m)^(runtime: |fatal error: ).*` +
			`(out of memory|cannot allocate memory|failed to reserve)`)
	})
)

// Write implements io.Writer.
func (f *filter) Write(b []byte) (int, error) {
	for rest := b; len(rest) > 0; {
		if f.dump != nil {
			f.dump = append(f.dump, rest[:min(len(rest), maxDump-len(f.dump))]...)
			return len(b), nil
		}
		end := bytes.IndexByte(rest, '\n') + 1
		if end == 0 {
			end = len(rest)
		}
		f.line = append(f.line, rest[:end]...)
		if rest = rest[end:]; dumpBegins().Match(f.line) {
			f.dump, f.line = f.line, nil
			continue
		}
		if f.line[len(f.line)-1] != '\n' && len(f.line) < len("fatal error: ") {
			return len(b), nil // the text may become the first line of a dump
		}
		if _, err := f.w.Write(f.line); err != nil {
			return 0, err
		}
		f.line = f.line[:0]
	}
	return len(b), nil
}

// ranOutOfMemory reports whether there is a dump of a program that ran out of memory.
func (f *filter) ranOutOfMemory() bool { return memoryEnds().Match(f.dump) }

// flush writes the kept text.
func (f *filter) flush() { _, _ = f.w.Write(append(f.line, f.dump...)) }
