package keras

import (
	"encoding/json"
	"fmt"
)

// fields is the configuration of a layer. The first error is kept: all later reads return
// the default.
type fields struct {
	m   map[string]json.RawMessage
	err error
}

// has reports whether the field exists and is not null.
func (f *fields) has(key string) bool {
	v, ok := f.m[key]
	return ok && string(v) != "null"
}

// into decodes a field; v is unchanged if the field is absent.
func (f *fields) into(key string, v any, want string) {
	if !f.has(key) || f.err != nil {
		return
	}
	if err := json.Unmarshal(f.m[key], v); err != nil {
		f.err = fmt.Errorf("%s is %.80s, want %s", key, f.m[key], want)
	}
}

func (f *fields) int(key string, def int) int {
	f.into(key, &def, "an integer")
	return def
}

// count does the same as int for numbers that must be at least one.
func (f *fields) count(key string, def int) int {
	n := f.int(key, def)
	if n < 1 && f.err == nil {
		f.err = fmt.Errorf("%s is %d, want at least 1", key, n)
	}
	return n
}

// float reads a number. Keras 2 wrote some as {"type": "ndarray", "value": 0.3}.
func (f *fields) float(key string, def float64) float64 {
	var object struct {
		Type  string   `json:"type"`
		Value *float64 `json:"value"`
	}
	if f.has(key) && json.Unmarshal(f.m[key], &object) == nil && object.Type == "ndarray" &&
		object.Value != nil {
		return *object.Value
	}
	f.into(key, &def, "a number")
	return def
}

// bool reads true or false, which files may write as 1 or 0.
func (f *fields) bool(key string, def bool) bool {
	switch string(f.m[key]) {
	case "1":
		return true
	case "0":
		return false
	}
	f.into(key, &def, "true or false")
	return def
}

func (f *fields) text(key, def string) string {
	f.into(key, &def, "a string")
	return def
}

// ints reads n integers, or a single one that applies to all of them.
func (f *fields) ints(key string, n, def int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = def
	}
	if !f.has(key) || f.err != nil {
		return out
	}
	if one, ok := integer(f.m[key]); ok {
		for i := range out {
			out[i] = one
		}
		return out
	}
	list, ok := integers(f.m[key])
	if !ok || len(list) != n {
		f.err = fmt.Errorf("%s is %.80s, want %d integers", key, f.m[key], n)
		return out
	}
	return list
}

// list reads any number of integers; nil if the field is absent.
func (f *fields) list(key, want string) []int {
	if !f.has(key) || f.err != nil {
		return nil
	}
	list, ok := integers(f.m[key])
	if !ok {
		f.err = fmt.Errorf("%s is %.80s, want %s", key, f.m[key], want)
	}
	return list
}

// integer reads one integer. It rejects null, which encoding/json reads as 0.
func integer(b json.RawMessage) (int, bool) {
	var n *int
	if json.Unmarshal(b, &n) != nil || n == nil {
		return 0, false
	}
	return *n, true
}

// integers reads a list of integers.
func integers(b json.RawMessage) ([]int, bool) {
	var all []json.RawMessage
	if json.Unmarshal(b, &all) != nil || all == nil {
		return nil, false
	}
	list := make([]int, len(all))
	for i, one := range all {
		n, ok := integer(one)
		if !ok {
			return nil, false
		}
		list[i] = n
	}
	return list, true
}

// axisOf reads an axis, which may be in a list of one element.
func (f *fields) axisOf(key string, def int) int {
	if list, ok := integers(f.m[key]); ok && len(list) == 1 {
		return list[0]
	}
	return f.int(key, def)
}

// refuse records an error if a field exists and its JSON text differs from usual.
func (f *fields) refuse(key, usual, why string) {
	off := string(f.m[key]) == "0" && usual == "false"
	if f.err == nil && f.has(key) && string(f.m[key]) != usual && !off {
		f.err = fmt.Errorf("%s is %.80s: %s", key, f.m[key], why)
	}
}

// rename moves a field of an older version to its present name. If both exist, the older
// one stays and is rejected later.
func (f *fields) rename(old, present string) {
	if v, ok := f.m[old]; ok && f.m[present] == nil {
		f.m[present] = v
		delete(f.m, old)
	}
}
