package foreign

import (
	"fmt"
	"strings"
)

// maxName is the length of the longest name.
const maxName = 128

// Cut shortens an ASCII name to the length limit of Clean.
func Cut(name string) string { return name[:min(len(name), maxName)] }

// Clean makes a name of a graph from a foreign name: characters that are not allowed become
// underscores. If nothing is left, Clean returns its second argument.
func Clean(name, otherwise string) string {
	name = strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' ||
			strings.ContainsRune("_./-", r) {
			return r
		}
		return '_'
	}, name)
	name = strings.TrimLeft(name, "./-")
	name = Cut(name)
	if name == "" || name == "_" {
		return otherwise
	}
	return name
}

// Names makes unique names. The zero Names is ready to use.
type Names struct {
	used map[string]bool
	next map[string]int // the next number to try after each name
}

// Free returns name, or name followed by the first number that makes it new, and marks it
// as used.
func (n *Names) Free(name string) string {
	if n.used == nil {
		n.used, n.next = map[string]bool{}, map[string]int{}
	}
	free := name
	for i := max(n.next[name], 2); n.used[free]; i++ {
		free = fmt.Sprintf("%s.%d", name, i)
		n.next[name] = i + 1
	}
	n.used[free] = true
	return free
}
