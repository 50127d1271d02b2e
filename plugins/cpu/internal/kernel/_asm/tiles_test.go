package main

import (
	"bytes"
	"testing"

	"github.com/mmcloughlin/avo/reg"
)

// TestTileEncodings compares encodings with the output of GNU as 2.40 for the text in the first column
// (Intel syntax). Displacements are large, because GNU as uses a shorter form of ModRM if they are 0.
func TestTileEncodings(t *testing.T) {
	for _, c := range []struct {
		text      string
		got, want []byte
	}{
		{"ldtilecfg [rax]", vexConfig(reg.RAX), []byte{0xc4, 0xe2, 0x78, 0x49, 0x00}},
		{"ldtilecfg [r8]", vexConfig(reg.R8), []byte{0xc4, 0xc2, 0x78, 0x49, 0x00}},
		{"tilerelease", vexTile(vexNone, 0x49, 0, 0, 0), []byte{0xc4, 0xe2, 0x78, 0x49, 0xc0}},
		{"tilezero tmm3", vexTile(vexF2, 0x49, 3, 0, 0), []byte{0xc4, 0xe2, 0x7b, 0x49, 0xd8}},
		{"tileloadd tmm4, [rsi+rbx*1+0x12345678]", vexMemory(vexF2, 0x4B, 4, reg.RSI, reg.RBX, 0x12345678),
			[]byte{0xc4, 0xe2, 0x7b, 0x4b, 0xa4, 0x1e, 0x78, 0x56, 0x34, 0x12}},
		{"tileloadd tmm7, [rdi+rbx*1-0x400000]", vexMemory(vexF2, 0x4B, 7, reg.RDI, reg.RBX, -0x400000),
			[]byte{0xc4, 0xe2, 0x7b, 0x4b, 0xbc, 0x1f, 0x00, 0x00, 0xc0, 0xff}},
		{"tileloadd tmm0, [r9+r10*1+0x12345678]", vexMemory(vexF2, 0x4B, 0, reg.R9, reg.R10, 0x12345678),
			[]byte{0xc4, 0x82, 0x7b, 0x4b, 0x84, 0x11, 0x78, 0x56, 0x34, 0x12}},
		{"tilestored [rdx+r8*1+0x12345678], tmm2", vexMemory(vexF3, 0x4B, 2, reg.RDX, reg.R8, 0x12345678),
			[]byte{0xc4, 0xa2, 0x7a, 0x4b, 0x94, 0x02, 0x78, 0x56, 0x34, 0x12}},
		{"tdpbf16ps tmm0, tmm4, tmm6", vexTile(vexF3, 0x5C, 0, 4, 6), []byte{0xc4, 0xe2, 0x4a, 0x5c, 0xc4}},
		{"tdpbf16ps tmm3, tmm5, tmm7", vexTile(vexF3, 0x5C, 3, 5, 7), []byte{0xc4, 0xe2, 0x42, 0x5c, 0xdd}},
	} {
		if !bytes.Equal(c.got, c.want) {
			t.Errorf("%s: % x, want % x", c.text, c.got, c.want)
		}
	}
}
