package graph

import "fmt"

// maxName is the length of the longest name.
const maxName = 256

// absent is an absent operand in the text form; no value has that name.
const absent = "_"

// checkName returns an error unless s is valid in the text form: letters, digits and _ . /
// : -, not beginning with . : or -.
func checkName(s string) error {
	if s == "" || len(s) > maxName {
		return fmt.Errorf("a name has %d characters, want 1 to %d", len(s), maxName)
	}
	if s == absent {
		return fmt.Errorf("%q is not a name: it stands for an absent operand", s)
	}
	for i := range len(s) {
		if c := s[i]; !nameByte(c) || i == 0 && (c == '.' || c == ':' || c == '-') {
			return fmt.Errorf("name %q: character %q may not stand there", s, c)
		}
	}
	return nil
}

func nameByte(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' ||
		c == '_' || c == '.' || c == '/' || c == ':' || c == '-'
}
