// Package images decodes picture files and scales pictures. Its pixels equal those of Pillow.
//
// Open reads the headers of a file, and Decode all of its pixels. A Scaling scales a picture to the size that
// a model accepts, and a Reduction does the same while the rows are decoded. A Plane has the pixels.
//
// Use it for single files in memory. Use package data for the samples of a data set.
package images

// Box is a part of a picture, in pixels.
type Box struct{ X, Y, W, H int }

// Plane is a picture in memory: H x W pixels of C bytes each, row by row.
type Plane struct {
	H, W, C int
	Pix     []byte
}

// NewPlane returns a black picture of h x w pixels.
func NewPlane(h, w, c int) Plane { return Plane{h, w, c, make([]byte, h*w*c)} }

// Bounds returns the box of the whole picture.
func (p Plane) Bounds() Box { return Box{0, 0, p.W, p.H} }

// Row returns the pixels of row y.
func (p Plane) Row(y int) []byte { return p.Pix[y*p.W*p.C : (y+1)*p.W*p.C] }

// Convert makes dst from src, which has the same size: grey from RGB by Pillow's luma, or RGB from grey.
func Convert(dst, src Plane) {
	for i := range dst.H * dst.W {
		if dst.C == 3 {
			v := src.Pix[i]
			dst.Pix[3*i], dst.Pix[3*i+1], dst.Pix[3*i+2] = v, v, v
			continue
		}
		dst.Pix[i] = byte(Luma(src.Pix[3*i:]))
	}
}

// Luma returns the grey of an RGB pixel, as in Pillow (ITU-R 601).
func Luma(rgb []byte) int {
	return (19595*int(rgb[0]) + 38470*int(rgb[1]) + 7471*int(rgb[2]) + 1<<15) >> 16
}
