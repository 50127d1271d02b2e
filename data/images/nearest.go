package images

// Nearest scales the part crop of src, which has one channel, to w x h pixels, and writes the given window
// of the result to dst. Each pixel is copied from the pixel of src that contains its centre, as in Pillow.
func Nearest(dst, src Plane, crop Box, w, h int, window Box) {
	across := make([]int, window.W)
	for x := range across {
		across[x] = crop.X + (2*(window.X+x)+1)*crop.W/(2*w)
	}
	for y := range window.H {
		row, to := src.Row(crop.Y+(2*(window.Y+y)+1)*crop.H/(2*h)), dst.Row(y)
		for x, at := range across {
			to[x] = row[at]
		}
	}
}
