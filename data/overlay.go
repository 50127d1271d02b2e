package data

import (
	"image/color"

	"github.com/bnctl/bnctl/tensor"
)

// MaskPalette is the colour map of the PASCAL VOC development kit: bits 3k, 3k+1 and 3k+2
// of the number of a class are bit 7-k of red, green and blue.
var MaskPalette = vocPalette()

func vocPalette() color.Palette {
	p := make(color.Palette, 256)
	for i := range p {
		var c [3]byte
		for k := range 8 {
			for channel := range c {
				c[channel] |= byte(i>>(3*k+channel)&1) << (7 - k)
			}
		}
		p[i] = color.RGBA{c[0], c[1], c[2], 255}
	}
	return p
}

// Overlay returns a picture, u8 [H,W,1 or 3], in RGB with a mask over it. Where the mask has a class above 0,
// the pixel is mixed, half and half, with the colour of the class in MaskPalette. Where it is -1, the pixel
// is mixed with the last colour of the palette.
func Overlay(picture tensor.Tensor, mask []int32) tensor.Tensor {
	h, w, channels := picture.Shape[0], picture.Shape[1], picture.Shape[2]
	out := tensor.New(tensor.U8, h, w, 3)
	for at := range h * w {
		pixel := out.Bytes[3*at : 3*at+3]
		for c := range pixel {
			pixel[c] = picture.Bytes[at*channels+min(c, channels-1)]
		}
		if mask[at] == 0 {
			continue
		}
		of := MaskPalette[byte(mask[at])].(color.RGBA) // -1 is 255
		for c, v := range []byte{of.R, of.G, of.B} {
			pixel[c] = byte((int(pixel[c]) + int(v)) / 2)
		}
	}
	return out
}
