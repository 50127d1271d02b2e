package objects

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// jsonLines decodes a JSON document, and knows the line of each value.
type jsonLines struct {
	b       []byte
	dec     *json.Decoder
	line    int
	counted int // lines are counted up to this byte of b
}

func newJSONLines(b []byte) *jsonLines {
	b = bytes.TrimPrefix(b, []byte("\xef\xbb\xbf"))
	return &jsonLines{b: b, dec: json.NewDecoder(bytes.NewReader(b)), line: 1}
}

// next returns the line of the value that is decoded next.
func (j *jsonLines) next() int {
	at := int(j.dec.InputOffset())
	for at < len(j.b) && bytes.IndexByte([]byte(" \t\r\n,:"), j.b[at]) >= 0 {
		at++
	}
	return j.lineAt(at)
}

// lineAt returns the line that contains the byte at offset. offset must not be less than in the previous
// call.
func (j *jsonLines) lineAt(offset int) int {
	offset = min(max(offset, j.counted), len(j.b))
	j.line += bytes.Count(j.b[j.counted:offset], []byte("\n"))
	j.counted = offset
	return j.line
}

// position returns the line of an error of the decoder.
func (j *jsonLines) position(err error) int {
	if s := new(json.SyntaxError); errors.As(err, &s) {
		return j.lineAt(int(s.Offset) - 1)
	}
	return j.lineAt(len(j.b))
}

// enter reads an opening bracket.
func (j *jsonLines) enter(bracket json.Delim) error {
	t, err := j.dec.Token()
	if err != nil {
		return err
	}
	if t != bracket {
		return fmt.Errorf("want %v", bracket)
	}
	return nil
}

// key reads the name of a field.
func (j *jsonLines) key() (string, error) {
	t, err := j.dec.Token()
	if err != nil {
		return "", err
	}
	name, _ := t.(string)
	return name, nil
}

// decode reads a value into v. If the value has another type than v, decode returns an error and isBroken is
// false: the rest of the document can still be read. If the JSON is invalid, isBroken is true.
func (j *jsonLines) decode(v any) (isBroken bool, err error) {
	err = j.dec.Decode(v)
	if t := new(json.UnmarshalTypeError); errors.As(err, &t) {
		return false, fmt.Errorf("%s is a JSON %s", t.Field, t.Value)
	}
	return err != nil, err
}
