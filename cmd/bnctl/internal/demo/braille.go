package demo

import "github.com/bnctl/bnctl/tensor"

// dots are the bits of the dots of a braille character, by row and column. They are added to U+2800.
var dots = [4][2]rune{{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}}

// braille draws a grey picture (H, W, 1) with braille characters of 4 x 2 dots, a dot for each pixel. A dot
// is set if its pixel is brighter than the middle between the smallest and the largest value.
func braille(picture tensor.Tensor) []string {
	h, w, pixels := picture.Shape[0], picture.Shape[1], picture.Bytes
	low, high := byte(255), byte(0)
	for _, v := range pixels {
		low, high = min(low, v), max(high, v)
	}
	middle := (int(low) + int(high)) / 2
	lines := make([]string, 0, (h+3)/4)
	for y := 0; y < h; y += 4 {
		line := make([]rune, 0, (w+1)/2)
		for x := 0; x < w; x += 2 {
			sign := rune(0x2800)
			for dy := range min(4, h-y) {
				for dx := range min(2, w-x) {
					if int(pixels[(y+dy)*w+x+dx]) > middle {
						sign |= dots[dy][dx]
					}
				}
			}
			line = append(line, sign)
		}
		lines = append(lines, string(line))
	}
	return lines
}
