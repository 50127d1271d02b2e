package protocol

import (
	"encoding/binary"
	"math"
	"strconv"

	"github.com/bnctl/bnctl/tensor"
)

// numbers converts a JSON array to a tensor. The array is either flat, or nested as the tensor's shape is. It
// has already been checked that the text is valid JSON.
func (input *Input) numbers(d tensor.DType) (tensor.Tensor, error) {
	s := scanner{text: input.Numbers, shape: input.Shape, want: tensor.Count(input.Shape)}
	put := putters[d]
	if put == nil {
		return tensor.Tensor{}, invalid("input %.80q: %s is taken as bytes only: give binary_data_size", input.Name,
			input.Datatype)
	}
	if len(input.Numbers) < s.want { // each number has at least one character in the text
		return tensor.Tensor{}, invalid("input %.80q: %d characters of data, and shape %v has %d elements",
			input.Name,
			len(input.Numbers), input.Shape, s.want)
	}
	t := tensor.New(d, input.Shape...)
	size := d.Size()
	n, err := s.eachNumber(func(i int, word []byte) error { return put(t.Bytes[i*size:], word) })
	if err == nil && n != s.want {
		err = invalid("%d numbers, and shape %v has %d elements", n, input.Shape, s.want)
	}
	if err != nil {
		return tensor.Tensor{}, invalid("input %.80q: %v", input.Name, err)
	}
	return t, nil
}

// scanner reads the words (numbers, true, false and other text) of a JSON array, which may be nested.
type scanner struct {
	text  []byte
	shape []int
	want  int   // expected number of words
	depth int   // number of arrays around the current position
	open  []int // number of elements so far in each of these arrays
	flat  bool  // the array is not nested
}

// eachNumber calls f for every word, with the index of the word, and returns the number of words.
func (s *scanner) eachNumber(f func(i int, word []byte) error) (n int, err error) {
	for at := 0; at < len(s.text); {
		switch c := s.text[at]; c {
		case ' ', '\t', '\r', '\n', ',':
			at++
		case '[':
			s.begin()
			at++
		case ']':
			if err := s.end(); err != nil {
				return n, err
			}
			at++
		default:
			end := wordEnd(s.text, at)
			if err := s.word(n); err != nil {
				return n, err
			}
			if err := f(n, s.text[at:end]); err != nil {
				return n, err
			}
			n, at = n+1, end
		}
	}
	return n, nil
}

// wordEnd returns the position after the word that begins at start.
func wordEnd(text []byte, start int) int {
	for end := start; end < len(text); end++ {
		switch text[end] {
		case ',', ']', '[', ' ', '\t', '\r', '\n':
			return end
		}
	}
	return len(text)
}

func (s *scanner) begin() {
	if s.depth > 0 {
		s.open[s.depth-1]++
	}
	s.depth++
	s.open = append(s.open, 0)
}

// end is called at the end of an array. If the arrays are nested, it returns an error unless the length of
// this array matches the shape.
func (s *scanner) end() error {
	holds := s.open[s.depth-1]
	s.depth--
	s.open = s.open[:s.depth]
	if s.depth == 0 && (s.flat || s.want == 0) {
		return nil
	}
	if s.depth >= len(s.shape) || holds != s.shape[s.depth] {
		return invalid("an array at depth %d holds %d, which shape %v does not", s.depth+1, holds, s.shape)
	}
	return nil
}

// word is called for each word. It returns an error if word i must not be at the current position.
func (s *scanner) word(i int) error {
	if i == 0 {
		s.flat = s.depth == 1
	}
	switch {
	case s.depth == 0:
		return invalid("data is not an array")
	case i >= s.want:
		return invalid("more numbers than the %d of shape %v", s.want, s.shape)
	case s.flat && s.depth != 1, !s.flat && s.depth != len(s.shape):
		return invalid("numbers at depth %d; want a flat array, or one nested as shape %v is", s.depth, s.shape)
	}
	s.open[s.depth-1]++
	return nil
}

// putters are functions that write a word as an element of a tensor, by type. Types without a function cannot
// be given in JSON.
var putters = map[tensor.DType]func(dst, word []byte) error{
	tensor.U8: func(dst, word []byte) error {
		v, err := strconv.ParseUint(string(word), 10, 8)
		if err != nil {
			return invalid("%.40q is not a whole number from 0 to 255", word)
		}
		dst[0] = byte(v)
		return nil
	},
	tensor.F32: func(dst, word []byte) error {
		v, err := strconv.ParseFloat(string(word), 32)
		if err != nil || word[0] != '-' && (word[0] < '0' || word[0] > '9') {
			return invalid("%.40q is not a number of FP32", word)
		}
		binary.LittleEndian.PutUint32(dst, math.Float32bits(float32(v)))
		return nil
	},
	tensor.I8: putInteger(8), tensor.I16: putInteger(16), tensor.I32: putInteger(32), tensor.I64: putInteger(64),
	tensor.U16: putUnsigned(16), tensor.U32: putUnsigned(32), tensor.U64: putUnsigned(64),
	tensor.Bool: func(dst, word []byte) error {
		switch string(word) {
		case "true", "1":
			dst[0] = 1
		case "false", "0":
		default:
			return invalid("%.40q is neither true nor false", word)
		}
		return nil
	},
}

func putInteger(bits int) func(dst, word []byte) error {
	return func(dst, word []byte) error {
		v, err := strconv.ParseInt(string(word), 10, bits)
		if err != nil {
			return invalid("%.40q is no whole number that INT%d holds", word, bits)
		}
		putBits(dst, uint64(v), bits)
		return nil
	}
}

func putUnsigned(bits int) func(dst, word []byte) error {
	return func(dst, word []byte) error {
		v, err := strconv.ParseUint(string(word), 10, bits)
		if err != nil {
			return invalid("%.40q is no whole number that UINT%d holds", word, bits)
		}
		putBits(dst, v, bits)
		return nil
	}
}

// putBits writes the lowest bits of v to dst, little endian.
func putBits(dst []byte, v uint64, bits int) {
	for i := range bits / 8 {
		dst[i] = byte(v >> (8 * i))
	}
}
