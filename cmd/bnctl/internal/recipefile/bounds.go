package recipefile

import (
	"bytes"
	"fmt"
	"unicode/utf8"

	"github.com/bnctl/bnctl/problem"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/token"
)

// Bounds on a recipe file, which has two maps of numbers, words and short lists. Without them, a YAML parser
// would need minutes for deeply nested brackets, and unlimited memory for aliases of aliases.
const (
	maxBytes  = 64 << 10
	maxTokens = 4096
	maxDepth  = 4 // depth of brackets: a list, in a map, in a map, in the document
)

// bounded returns an error for text that exceeds the bounds. It is called before the text is parsed.
func bounded(text []byte) error {
	if !utf8.Valid(text) || bytes.IndexByte(text, 0) >= 0 {
		return problem.Advise("name a file of YAML, a template or a checkpoint", "it is not a text")
	}
	tokens := lexer.Tokenize(string(text))
	if len(tokens) > maxTokens {
		return fmt.Errorf("%s; a recipe has at most %d", problem.Plural(len(tokens), "token"), maxTokens)
	}
	depth, begun, ended, directive := 0, false, 0, 0 // ended and directive are line numbers
	for _, t := range tokens {
		switch t.Type {
		case token.DirectiveType:
			directive = t.Position.Line
		case token.CommentType:
			continue
		case token.DocumentHeaderType, token.DocumentEndType:
			if begun && ended == 0 {
				ended = t.Position.Line
			}
			continue
		case token.SequenceStartType, token.MappingStartType:
			depth++
		case token.SequenceEndType, token.MappingEndType:
			depth--
		case token.AnchorType, token.AliasType, token.MergeKeyType, token.TagType, token.MappingKeyType:
			return problem.Advise("write the values out",
				"line %d: %q: a recipe has no anchors, aliases, tags or ? keys", t.Position.Line, t.Value)
		}
		begun = begun || t.Position.Line != directive
		if ended > 0 && t.Position.Line != directive {
			return problem.Advise("write it into another file, or into the first document",
				"line %d: a second document: a recipe is one", ended)
		}
		if depth > maxDepth {
			return fmt.Errorf("line %d: brackets more than %d deep; a recipe is flags and lists of words",
				t.Position.Line, maxDepth)
		}
	}
	return nil
}
