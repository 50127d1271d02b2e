package safetensors

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"unicode/utf8"

	"github.com/bnctl/bnctl/formats/internal/foreign"
	"github.com/bnctl/bnctl/tensor"
)

// entry is a tensor of the header.
type entry struct {
	name       string
	dtype      tensor.DType
	shape      []int
	begin, end int64 // offsets after the header
}

// header is the content of the JSON.
type header struct {
	entries  []entry // entries in the header's order
	metadata []foreign.Counter
}

// parser reads the tokens of the header: unlike json.Unmarshal, it detects duplicate keys
// and stops at the first token out of place.
type parser struct{ *json.Decoder }

func parseHeader(b []byte) (*header, error) {
	if !utf8.Valid(b) {
		return nil, fmt.Errorf("the header is not valid UTF-8")
	}
	p := parser{json.NewDecoder(bytes.NewReader(b))}
	p.UseNumber()
	h := &header{}
	err := p.object(func(key string) error {
		if key == "__metadata__" {
			return p.metadata(h)
		}
		if len(h.entries) == foreign.MaxTensors {
			return fmt.Errorf("more than %d tensors", foreign.MaxTensors)
		}
		return p.tensor(h, key)
	})
	if err != nil {
		return nil, fmt.Errorf("header, byte %d: %w", p.InputOffset(), err)
	}
	if rest := bytes.TrimRight(b[p.InputOffset():], " "); len(rest) > 0 {
		return nil, fmt.Errorf("header, byte %d: something follows the JSON object", p.InputOffset())
	}
	return h, nil
}

// delim reads a token that must be want.
func (p parser) delim(want json.Delim) error {
	t, err := p.Token()
	if err == nil && t != want {
		err = fmt.Errorf("%v, want %v", t, want)
	}
	return err
}

// object reads an object and calls visit after every key.
func (p parser) object(visit func(key string) error) error {
	if err := p.delim('{'); err != nil {
		return err
	}
	seen := map[string]bool{}
	for p.More() {
		t, err := p.Token()
		if err != nil {
			return err
		}
		key, _ := t.(string)
		if len(key) > foreign.MaxName {
			return fmt.Errorf("a key of %d bytes; at most %d are supported", len(key), foreign.MaxName)
		}
		if seen[key] {
			return fmt.Errorf("key %q occurs twice", key)
		}
		seen[key] = true
		if err := visit(key); err != nil {
			return fmt.Errorf("key %q: %w", key, err)
		}
	}
	return p.delim('}')
}

// numbers reads an array of at most limit nonnegative integers.
func (p parser) numbers(limit int) ([]int64, error) {
	if err := p.delim('['); err != nil {
		return nil, err
	}
	var out []int64
	for p.More() {
		t, err := p.Token()
		if err != nil {
			return nil, err
		}
		n, ok := t.(json.Number)
		v, err := n.Int64()
		if !ok || err != nil || v < 0 {
			return nil, fmt.Errorf("%v, want a number from 0 to %d", t, int64(math.MaxInt64))
		}
		if out = append(out, v); len(out) > limit {
			return nil, fmt.Errorf("more than %d numbers", limit)
		}
	}
	return out, p.delim(']')
}

func (p parser) text() (string, error) {
	t, err := p.Token()
	if err != nil {
		return "", err
	}
	s, ok := t.(string)
	if !ok {
		return "", fmt.Errorf("%v, want a string", t)
	}
	return s, nil
}

func (p parser) metadata(h *header) error {
	return p.object(func(key string) error {
		value, err := p.text()
		if len(h.metadata) == maxMetadata {
			return fmt.Errorf("more than %d entries", maxMetadata)
		}
		h.metadata = append(h.metadata, foreign.Counter{Name: key, Value: value})
		return err
	})
}

// tensor reads {"dtype": ..., "shape": [...], "data_offsets": [begin, end]}.
func (p parser) tensor(h *header, name string) error {
	e := entry{name: name, begin: -1}
	err := p.object(func(key string) error {
		switch key {
		case "dtype":
			s, err := p.text()
			if err != nil {
				return err
			}
			e.dtype, err = parseType(s)
			return err
		case "shape":
			shape, err := p.numbers(tensor.MaxRank)
			e.shape = []int{}
			for _, n := range shape {
				e.shape = append(e.shape, int(n))
			}
			return err
		case "data_offsets":
			at, err := p.numbers(2)
			if err == nil && len(at) != 2 {
				err = fmt.Errorf("%d offsets, want 2", len(at))
			}
			if err == nil {
				e.begin, e.end = at[0], at[1]
			}
			return err
		}
		return fmt.Errorf("unknown key")
	})
	if err != nil {
		return err
	}
	h.entries = append(h.entries, e)
	return e.check()
}

// check compares the offsets with type and shape.
func (e entry) check() error {
	if e.dtype == 0 || e.shape == nil || e.begin < 0 {
		return fmt.Errorf("dtype, shape or data_offsets is missing")
	}
	n, err := tensor.Size(e.dtype, e.shape)
	if err != nil {
		return err
	}
	if e.end-e.begin != int64(n) {
		return fmt.Errorf("%s takes %d bytes, the offsets %d and %d leave %d",
			tensor.Describe(e.dtype, e.shape), n, e.begin, e.end, e.end-e.begin)
	}
	return nil
}

// checkCover verifies that the tensors cover size bytes without holes and overlaps.
func (h *header) checkCover(size int64) error {
	sorted := slices.SortedFunc(slices.Values(h.entries), func(a, b entry) int {
		if a.begin != b.begin {
			return int(min(max(a.begin-b.begin, -1), 1))
		}
		return int(min(max(a.end-b.end, -1), 1))
	})
	at := int64(0)
	for _, e := range sorted {
		if e.begin != at {
			return fmt.Errorf("key %q: begins at offset %d of the elements, want %d: a hole or an overlap",
				e.name, e.begin, at)
		}
		at = e.end
	}
	if at != size {
		return fmt.Errorf("the tensors end at offset %d of the elements, the file at %d", at, size)
	}
	return nil
}
