package keras

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
)

// decode reads JSON into v. Unlike encoding/json alone it refuses a key that
// occurs twice in one object: two readers could see two different models.
func decode(b []byte, v any) error {
	if len(b) > maxConfig {
		return fmt.Errorf("a description of %d bytes; at most %d are supported", len(b), maxConfig)
	}
	if err := checkKeys(b); err != nil {
		return err
	}
	return json.Unmarshal(b, v)
}

// checkKeys reports the first key that occurs twice in its object, brackets that
// are nested too deep, and too many of all.
func checkKeys(b []byte) error {
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	var open []map[string]bool // keys of the objects that are open; nil for a list
	key := false               // a key comes next
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

// nest follows a delimiter.
func nest(open []map[string]bool, d json.Delim) []map[string]bool {
	switch d {
	case '{':
		return append(open, map[string]bool{})
	case '[':
		return append(open, nil)
	}
	return open[:len(open)-1]
}
