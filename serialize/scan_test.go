package serialize

import (
	"bytes"
	"testing"

	"github.com/vmihailenco/msgpack/v5"
)

// TestScanTakesWhatADecoderTakes compares the length of a value with the number of bytes
// that the library's decoder skips, for every first byte. Explicit lengths are 1.
func TestScanTakesWhatADecoderTakes(t *testing.T) {
	for first := range 256 {
		b := append([]byte{byte(first)}, bytes.Repeat([]byte{0xcc}, 64)...) // values of two bytes
		if n := lengthBytes[byte(first)]; n > 0 {
			clear(b[1:n])
			b[n] = 1
		}
		s := scanner{left: maxValues}
		rest, err := s.value(b, maxDepth)
		r := bytes.NewReader(b)
		if skipped := msgpack.NewDecoder(r).Skip(); (err == nil) != (skipped == nil) {
			t.Errorf("byte %#x: error %v, the decoder's is %v", first, err, skipped)
		}
		if err == nil && len(rest) != r.Len() {
			t.Errorf("byte %#x: %d bytes are left, a decoder leaves %d", first, len(rest), r.Len())
		}
	}
}

// The number of values has a limit.
func TestScanCountsValues(t *testing.T) {
	for left, want := range map[int]bool{3: true, 2: false} {
		s := scanner{left: left}
		if _, err := s.value([]byte{0x92, 1, 2}, maxDepth); (err == nil) != want {
			t.Errorf("a list of two where %d values may come: error %v", left, err)
		}
	}
}
