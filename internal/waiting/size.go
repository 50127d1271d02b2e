package waiting

import (
	"io"
	"os"
	"runtime"
	"strings"

	"golang.org/x/term"
)

// Size is the size of a terminal, in characters.
type Size struct{ Columns, Rows int }

// SizeOf returns the present size of a terminal. It returns 80 by 24 for another writer, and for a terminal
// that does not report its size.
func SizeOf(of io.Writer) Size {
	size := Size{80, 24}
	if f, ok := of.(*os.File); ok {
		if w, h, err := term.GetSize(int(f.Fd())); err == nil {
			if w > 0 {
				size.Columns = w
			}
			if h > 0 {
				size.Rows = h
			}
		}
	}
	return size
}

// Columns returns the width of a terminal, from SizeOf.
func Columns(w io.Writer) int { return SizeOf(w).Columns }

// Unicode reports whether a terminal shows UTF-8. It uses the first of LC_ALL, LC_CTYPE and
// LANG that is set in the environment. Windows sets none of them, and shows UTF-8.
func Unicode(env func(string) string) bool {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if v := strings.ToLower(env(name)); v != "" {
			return strings.Contains(v, "utf-8") || strings.Contains(v, "utf8")
		}
	}
	return runtime.GOOS == "windows"
}
