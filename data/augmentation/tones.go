package augmentation

import (
	"bytes"

	"github.com/bnctl/bnctl/data/images"
)

// sharpness moves the value of each pixel away from the weighted mean of the pixel and its neighbours, in
// which the pixel itself has weight 5 of 13. Pixels at the edge are not changed.
func sharpness(p images.Plane, factor float64) {
	src := images.Plane{H: p.H, W: p.W, C: p.C, Pix: bytes.Clone(p.Pix)}
	for y := 1; y < p.H-1; y++ {
		above, row, below, to := src.Row(y-1), src.Row(y), src.Row(y+1), p.Row(y)
		for i := p.C; i < (p.W-1)*p.C; i++ {
			sum := 4 * int(row[i])
			for _, line := range [][]byte{above, row, below} {
				sum += int(line[i-p.C]) + int(line[i]) + int(line[i+p.C])
			}
			to[i] = mixed(byte((2*sum+13)/26), row[i], float32(factor))
		}
	}
}

// posterize keeps only the highest bits of each value.
func posterize(p images.Plane, bits int) {
	mask := byte(0xff << (8 - bits))
	for i, v := range p.Pix {
		p.Pix[i] = v & mask
	}
}

// solarize inverts the values that are at least threshold.
func solarize(p images.Plane, threshold float64) {
	for i, v := range p.Pix {
		if float64(v) >= threshold {
			p.Pix[i] = 255 - v
		}
	}
}

// autoContrast stretches the values of each channel to the range from 0 to 255.
func autoContrast(p images.Plane) {
	map256(p, func(h *[256]int, table *[256]byte) bool {
		low, high := 0, 255
		for low < 255 && h[low] == 0 {
			low++
		}
		for high > 0 && h[high] == 0 {
			high--
		}
		if high <= low {
			return false
		}
		scale := 255 / float64(high-low)
		offset := float64(-float64(low) * scale)
		for v := range table {
			table[v] = byte(min(max(int(float64(float64(v)*scale)+offset), 0), 255))
		}
		return true
	})
}

// equalize changes the values of each channel so that all values are about equally frequent.
func equalize(p images.Plane) {
	map256(p, func(h *[256]int, table *[256]byte) bool {
		last := 255
		for last > 0 && h[last] == 0 {
			last--
		}
		step := (p.H*p.W - h[last]) / 255
		if step == 0 {
			return false
		}
		n := step / 2
		for v := range table {
			table[v] = byte(min(n/step, 255))
			n += h[v]
		}
		return true
	})
}

// map256 replaces the values of each channel by the entries of a table. make fills the table from the
// histogram of the channel. If make returns false, the channel is not changed.
func map256(p images.Plane, make func(h *[256]int, table *[256]byte) bool) {
	for k := range p.C {
		var histogram [256]int
		var table [256]byte
		for i := k; i < len(p.Pix); i += p.C {
			histogram[p.Pix[i]]++
		}
		if !make(&histogram, &table) {
			continue
		}
		for i := k; i < len(p.Pix); i += p.C {
			p.Pix[i] = table[p.Pix[i]]
		}
	}
}
