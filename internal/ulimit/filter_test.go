package ulimit

import (
	"bytes"
	"strings"
	"testing"
)

// All text passes, however it is divided into writes. A dump of the Go runtime is kept, and the filter knows
// whether it is about memory.
func TestFilter(t *testing.T) {
	const dump = "fatal error: out of memory\n\ngoroutine 1 [running]:\nruntime.throw(...)\n"
	for _, c := range []struct {
		before, dump string
		memory       bool
	}{
		{"epoch 1\repoch 2\nbnctl: it failed", "", false},
		{"", "", false},
		{"fat\nruntime is fine\nfatal\n", "", false},
		{"epoch 1\n", dump, true},
		{"", "runtime: out of memory: cannot allocate 4194304-byte block (3899392 in use)\n" + dump, true},
		{"a\n", "fatal error: runtime: cannot allocate memory\n", true},
		{"a\n", "fatal error: all goroutines are asleep - deadlock!\n\ngoroutine 1\n", false},
		{"bnctl: device: out of memory: want 5 MiB\n", "", false},
	} {
		for _, piece := range []int{1, 3, 1000} {
			var out bytes.Buffer
			f := &filter{w: &out}
			for rest := c.before + c.dump; rest != ""; {
				n := min(piece, len(rest))
				_, _ = f.Write([]byte(rest[:n]))
				rest = rest[n:]
			}
			if c.dump != "" && (out.String() != c.before || f.ranOutOfMemory() != c.memory) {
				t.Errorf("%q, by %d: %q was written, memory %v", c.before+c.dump, piece, &out, f.ranOutOfMemory())
			}
			if f.flush(); out.String() != c.before+c.dump {
				t.Errorf("by %d: %q, want %q", piece, &out, c.before+c.dump)
			}
			if c.dump == "" && f.ranOutOfMemory() {
				t.Errorf("%q: memory", c.before)
			}
		}
	}
	if f := (&filter{w: &bytes.Buffer{}}); true {
		_, _ = f.Write([]byte("fatal error: x\n" + strings.Repeat("x", 2*maxDump)))
		if len(f.dump) > maxDump {
			t.Errorf("%d bytes are kept", len(f.dump))
		}
	}
}
