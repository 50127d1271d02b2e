package report

import (
	"bytes"
	"cmp"
	"encoding/json"
	"strings"
)

// knownOf decodes those fields of a recipe that a report uses by name.
func knownOf(b json.RawMessage) (knownRecipe, error) {
	var r knownRecipe
	err := json.Unmarshal(b, &r)
	return r, err
}

// fieldsOf returns the entries of a recipe in their order. Entries of nested objects have
// dotted names: data.fingerprint.
func fieldsOf(b json.RawMessage) []field { return appendFields(nil, "", b) }

func appendFields(fields []field, prefix string, b json.RawMessage) []field {
	d := json.NewDecoder(bytes.NewReader(b))
	if open, err := d.Token(); err != nil || open != json.Delim('{') {
		return fields
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return fields
		}
		var value json.RawMessage
		if d.Decode(&value) != nil {
			return fields
		}
		name, ok := key.(string)
		if !ok {
			return fields
		}
		if value[0] == '{' {
			fields = appendFields(fields, prefix+name+".", value)
			continue
		}
		fields = append(fields, field{prefix + name, inWords(value)})
	}
	return fields
}

// inWords returns a value of a recipe as text for people.
func inWords(b json.RawMessage) string {
	var list []string
	if json.Unmarshal(b, &list) == nil {
		return cmp.Or(strings.Join(list, ", "), "none")
	}
	var text string
	if json.Unmarshal(b, &text) == nil {
		return cmp.Or(text, "none")
	}
	if string(b) == "null" {
		return "none"
	}
	return string(b)
}
