package main

import (
	"bytes"
	"testing"
)

// TestBF16Encodings compares encodings with the output of GNU as 2.40 for the text in the first column
// (Intel syntax).
func TestBF16Encodings(t *testing.T) {
	for _, c := range []struct {
		text      string
		got, want []byte
	}{
		{"vdpbf16ps zmm0, zmm28, zmm24", evex(0x52, 0, 28, 24), []byte{0x62, 0x92, 0x1e, 0x40, 0x52, 0xc0}},
		{"vdpbf16ps zmm17, zmm3, zmm9", evex(0x52, 17, 3, 9), []byte{0x62, 0xc2, 0x66, 0x48, 0x52, 0xc9}},
		{"vdpbf16ps zmm31, zmm31, zmm31", evex(0x52, 31, 31, 31), []byte{0x62, 0x02, 0x06, 0x40, 0x52, 0xff}},
		{"vcvtneps2bf16 ymm24, zmm5", evex(0x72, 24, 0, 5), []byte{0x62, 0x62, 0x7e, 0x48, 0x72, 0xc5}},
		{"vcvtneps2bf16 ymm1, zmm16", evex(0x72, 1, 0, 16), []byte{0x62, 0xb2, 0x7e, 0x48, 0x72, 0xc8}},
	} {
		if !bytes.Equal(c.got, c.want) {
			t.Errorf("%s: % x, want % x", c.text, c.got, c.want)
		}
	}
}
