package legible

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// The limits of Short and the lengths that it leaves, for a word and for a line, in
// characters.
const (
	longWord  = 1000 // paths that a person types are shorter
	longLine  = 4000
	wordEdges = 200
	lineEdges = 1500
)

// Short returns text shortened to a readable length. It keeps both ends of a word of more
// than 1,000 characters, for example a name from a hostile file, and of a line of more than
// 4,000, for example a shape of 100,000 lengths, and writes the number of omitted
// characters between them.
func Short(text string) string {
	if len(text) <= longWord {
		return text
	}
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		words := strings.Split(line, " ")
		for k, w := range words {
			words[k] = cut(w, longWord, wordEdges)
		}
		lines[i] = cut(strings.Join(words, " "), longLine, lineEdges)
	}
	return strings.Join(lines, "\n")
}

// cut removes the middle of a text that exceeds the given number of characters.
func cut(text string, limit, edges int) string {
	n := utf8.RuneCountInString(text)
	if n <= limit {
		return text
	}
	head, tail := 0, len(text)
	for range edges {
		_, size := utf8.DecodeRuneInString(text[head:])
		head += size
		_, size = utf8.DecodeLastRuneInString(text[:tail])
		tail -= size
	}
	return fmt.Sprintf("%s … (%d characters left out) … %s", text[:head], n-2*edges, text[tail:])
}
