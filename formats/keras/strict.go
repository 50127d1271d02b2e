package keras

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
)

// decode reads JSON into v. Unlike encoding/json, it rejects a key that occurs twice in one
// object: two readers could see two different models.
func decode(b []byte, v any) error {
	if len(b) > maxConfig {
		return fmt.Errorf("a description of %d bytes; at most %d are supported", len(b), maxConfig)
	}
	if err := checkKeys(b); err != nil {
		return err
	}
	return unmarshal(b, v, "the description")
}

// unmarshal reads JSON into v. Its errors describe a value of the wrong type in the terms
// of the file.
func unmarshal(b []byte, v any, subject string) error {
	err := json.Unmarshal(b, v)
	var wrong *json.UnmarshalTypeError
	if !errors.As(err, &wrong) {
		return err
	}
	if wrong.Field != "" {
		subject = wrong.Field
	}
	return fmt.Errorf("%s is %s, want %s", subject, kindOf(wrong.Value), wanted(wrong.Type))
}

// kindOf names a kind of value of JSON.
func kindOf(value string) string {
	first, _, _ := strings.Cut(value, " ")
	return map[string]string{"array": "a list", "object": "an object", "string": "a string",
		"bool": "true or false", "number": "a number"}[first]
}

// wanted returns the name of the JSON value for a Go type.
func wanted(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Slice, reflect.Array:
		return "a list"
	case reflect.Struct, reflect.Map:
		return "an object"
	case reflect.String:
		return "a string"
	}
	return "a number"
}

// checkKeys returns an error if a key occurs twice in one object, if brackets are nested
// too deeply, or if there are too many tokens.
func checkKeys(b []byte) error {
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	var open []map[string]bool // keys of each enclosing object; nil for a list
	key := false               // the next token is a key
	for n := 0; ; n++ {
		t, err := d.Token()
		if err == io.EOF {
			return nil
		}
		if n == maxTokens {
			return fmt.Errorf("offset %d: a description of more than %d tokens", d.InputOffset(), maxTokens)
		}
		if err != nil {
			return err
		}
		switch t := t.(type) {
		case json.Delim:
			if open = nest(open, t); len(open) > maxBrackets {
				return fmt.Errorf("offset %d: brackets are nested more than %d deep", d.InputOffset(), maxBrackets)
			}
		case string:
			if top := len(open) - 1; key && open[top] != nil {
				if open[top][t] {
					return fmt.Errorf("offset %d: the key %.80q occurs twice", d.InputOffset(), t)
				}
				open[top][t] = true
				key = false
				continue
			}
		}
		key = len(open) > 0 && open[len(open)-1] != nil
	}
}

// nest returns the enclosing objects and lists after the delimiter d, which opens or closes
// one. open has those before it.
func nest(open []map[string]bool, d json.Delim) []map[string]bool {
	switch d {
	case '{':
		return append(open, map[string]bool{})
	case '[':
		return append(open, nil)
	}
	return open[:len(open)-1]
}
