package data

// box is a part of a picture, in pixels.
type box struct{ x, y, w, h int }

// plane is a picture being processed: h x w pixels of c bytes.
type plane struct {
	h, w, c int
	pix     []byte
}

func (p plane) row(y int) []byte { return p.pix[y*p.w*p.c : (y+1)*p.w*p.c] }

// convert fills dst from src, which has the same size: grey from RGB by
// Pillow's luma, or RGB from grey.
func convert(dst, src plane) {
	for i := range dst.h * dst.w {
		if dst.c == 3 {
			v := src.pix[i]
			dst.pix[3*i], dst.pix[3*i+1], dst.pix[3*i+2] = v, v, v
			continue
		}
		dst.pix[i] = byte(luma(src.pix[3*i:]))
	}
}

// luma returns the grey of an RGB pixel, as in Pillow (ITU-R 601).
func luma(rgb []byte) int {
	return (19595*int(rgb[0]) + 38470*int(rgb[1]) + 7471*int(rgb[2]) + 1<<15) >> 16
}
