package remote

import (
	"fmt"
	"strings"
	"testing"
)

// TestLastWordsSayWhy checks that the quoted lines explain why a program ended, and are not only
// the end of its trace.
func TestLastWordsSayWhy(t *testing.T) {
	log := "loading\nready\n"
	var trace, python strings.Builder
	for i := range 400 {
		fmt.Fprintf(&trace, "goroutine %d [running]:\nmain.main()\n", i)
	}
	for i := range 9 {
		fmt.Fprintf(&python, "  File \"device.py\", line %d, in run\n", i)
	}
	for name, c := range map[string]struct{ wrote, want string }{
		"no reason":      {"a\nb\nc\nd\ne\nf\ng\n", "b\nc\nd\ne\nf\ng"},
		"Go":             {log + "panic: oh\n\ngoroutine 1 [running]:\n" + trace.String()[:200], "panic: oh"},
		"a long trace":   {log + "panic: oh\n\n" + trace.String(), "panic: oh"},
		"C++":            {log + "terminate called after throwing an instance of 'E'\n  what():  oh\n", "terminate called after throwing an instance of 'E'\n  what():  oh"},
		"Python":         {log + "Traceback (most recent call last):\n" + python.String() + "ValueError: oh\n", "ValueError: oh"},
		"it has gone on": {"Traceback (most recent call last):\nValueError: caught\n" + strings.Repeat("working\n", 40_000) + "bye\n", "bye"},
		"Node.js":        {log + "a.js:1\nthrow 1\n\nTypeError: oh\n" + strings.Repeat("    at f\n", 9) + "\nNode.js v20\n", "TypeError: oh"},
		"Go without memory": {log + "runtime: out of memory: cannot allocate 4194304-byte block\nfatal error: " +
			"out of memory\n\n" + trace.String()[:100], "fatal error: out of memory"},
		"C++ without memory": {log + "terminate called after throwing an instance of 'std::bad_alloc'\n",
			"terminate called after throwing an instance of 'std::bad_alloc'"},
		"the last of two": {"panic: first\npanic: second\n", "panic: second"},
	} {
		for _, piece := range []int{1, 7, 1 << 20} {
			w := newOutput(nil)
			for rest := c.wrote; rest != ""; {
				n := min(piece, len(rest))
				_, _ = w.Write([]byte(rest[:n]))
				rest = rest[n:]
			}
			if short := strings.Contains(name, "memory"); w.ranOutOfMemory() != short {
				t.Errorf("%s: out of memory: %v", name, w.ranOutOfMemory())
			}
			got := w.last()
			starts := strings.HasPrefix(got, strings.SplitN(c.want, "\n", 2)[0])
			ends := strings.HasSuffix(got, c.want)
			if !starts && !ends {
				t.Errorf("%s, %d bytes at a time: %q, want %q", name, piece, got, c.want)
			}
		}
	}
}
