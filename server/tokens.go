package server

import (
	"crypto/sha256"
	"crypto/subtle"
	"strings"
	"sync"

	"github.com/bnctl/bnctl/internal/regular"
	"github.com/bnctl/bnctl/problem"
)

// tokens is the set of valid tokens, from a file.
type tokens struct {
	path string
	note func(format string, args ...any)
	mu   sync.Mutex
	sums [][sha256.Size]byte
	stamps
}

// tokenBytes is the largest size of the file.
const tokenBytes = 1 << 20

// readTokens reads the tokens of a file, or returns nil if path is "".
func readTokens(path string, note func(string, ...any)) (*tokens, error) {
	if path == "" {
		return nil, nil
	}
	t := &tokens{path: path, note: note, stamps: stamps{paths: []string{path}}}
	t.changed()
	return t, t.read()
}

// read reads the file again.
func (t *tokens) read() error {
	f, err := regular.Open(t.path)
	if err != nil {
		return err
	}
	info, err := f.Stat()
	f.Close()
	if err != nil {
		return err
	}
	if info.Mode().Perm()&0o077 != 0 {
		return problem.Advise("chmod 600 it", "%s: others may read it (mode %v)", t.path,
			info.Mode().Perm())
	}
	text, err := regular.Read(t.path, tokenBytes)
	if err != nil {
		return err
	}
	var sums [][sha256.Size]byte
	for line := range strings.Lines(string(text)) {
		if token := strings.TrimSpace(line); token != "" {
			sums = append(sums, sha256.Sum256([]byte(token)))
		}
	}
	if len(sums) == 0 {
		return problem.Advise("write one on a line", "%s: it contains no token", t.path)
	}
	t.sums = sums
	return nil
}

// has reports whether a token is valid, in constant time.
func (t *tokens) has(token string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.refresh()
	sum, found := sha256.Sum256([]byte(token)), 0
	for _, known := range t.sums {
		found |= subtle.ConstantTimeCompare(sum[:], known[:])
	}
	return found == 1
}

// refresh reads the file again if it has changed. If that fails, the previous tokens remain valid.
func (t *tokens) refresh() {
	if !t.changed() {
		return
	}
	if err := t.read(); err != nil {
		t.note("tokens stay as they were: %v", err)
	}
}
