package inspect

import (
	"bytes"
	"encoding/json"
	"strings"
)

// Indented writes JSON for people, without the outermost braces and quotes of names.
func Indented(text json.RawMessage) string {
	var b bytes.Buffer
	if json.Indent(&b, text, "", "   ") != nil {
		return string(text)
	}
	return strings.TrimSuffix(strings.TrimPrefix(b.String(), "{\n"), "\n}")
}
