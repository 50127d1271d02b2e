package images

import "github.com/bnctl/bnctl/data/internal/jpeg"

// upsampler returns the rows of one plane of a JPEG, enlarged to the size of the picture.
//
// They equal libjpeg-turbo's with default options (jdsample.c, "fancy upsampling"). Planes of half the size
// are interpolated linearly between the centres of the samples. So a result is 3/4 of the nearer and 1/4 of
// the further sample, in each direction. Beyond the edge the last sample is repeated. In planes of a quarter
// of the size, and in planes of half the width with at most two columns, samples are repeated instead.
type upsampler struct {
	jpeg.Plane
	smooth bool
	out    []byte // buffer for the result of row, if that is not a row of the plane itself
}

func newUpsampler(p jpeg.Plane) *upsampler {
	u := &upsampler{Plane: p, smooth: p.Across < 2 && (p.Across == 0 || p.W > 2)}
	if p.Across > 0 || p.Down > 0 {
		u.out = make([]byte, p.W<<p.Across)
	}
	return u
}

// row returns the samples of row y of the picture, at least one for each pixel. They are valid until the next
// call.
func (u *upsampler) row(y int) []byte {
	near := u.Row(y >> u.Down)
	switch {
	case u.Across == 0 && u.Down == 0:
		return near
	case !u.smooth:
		replicate(u.out, near, u.Across)
	case u.Down == 0:
		smoothAcross(u.out, near)
	case u.Across == 0:
		smoothDown(u.out, near, u.Row(further(y, u.H)), 1+y&1)
	default:
		smoothBoth(u.out, near, u.Row(further(y, u.H)))
	}
	return u.out
}

// further returns the number of the second nearest row of a plane to row y of the picture, which is twice as
// high. The plane has h rows. It is the row above or below the nearest one, y/2.
func further(y, h int) int {
	if y&1 == 0 {
		return max(y/2-1, 0)
	}
	return min(y/2+1, h-1)
}

func replicate(dst, src []byte, shift uint) {
	for x := range dst {
		dst[x] = src[x>>shift]
	}
}

// smoothAcross doubles the length of a row of at least two samples (h2v1_fancy_upsample). Halves are rounded
// down at even and up at odd pixels.
func smoothAcross(dst, src []byte) {
	last := len(src) - 1
	dst = dst[:2*len(src)]
	left, here := uint(src[0]), uint(src[0])
	for x, v := range src[1:] {
		right := uint(v)
		pair := dst[2*x : 2*x+2 : 2*x+2]
		pair[0] = byte((3*here + left + 1) >> 2)
		pair[1] = byte((3*here + right + 2) >> 2)
		left, here = here, right
	}
	dst[2*last], dst[2*last+1] = byte((3*here+left+1)>>2), byte(here)
}

// smoothDown computes a row of the picture from the two nearest rows of a plane (h1v2_fancy_upsample).
func smoothDown(dst, near, far []byte, bias int) {
	far, dst = far[:len(near)], dst[:len(near)]
	for x, v := range near {
		dst[x] = byte((3*int(v) + int(far[x]) + bias) >> 2)
	}
}

// smoothBoth computes a row of the picture, twice as long, from the two nearest rows of a plane. They have at
// least two samples (h2v2_fancy_upsample).
func smoothBoth(dst, near, far []byte) {
	last := len(near) - 1
	far, dst = far[:len(near)], dst[:2*len(near)]
	here := 3*uint(near[0]) + uint(far[0])
	left := here
	for x, v := range near[1:] {
		right := 3*uint(v) + uint(far[x+1])
		pair := dst[2*x : 2*x+2 : 2*x+2]
		pair[0] = byte((3*here + left + 8) >> 4)
		pair[1] = byte((3*here + right + 7) >> 4)
		left, here = here, right
	}
	dst[2*last], dst[2*last+1] = byte((3*here+left+8)>>4), byte((4*here+7)>>4)
}
