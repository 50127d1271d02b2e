package data

// nearest scales the part from of src, which has one channel, to w x h pixels and writes
// the window of the result to dst. A pixel is copied from the pixel of src that contains
// its centre, as in Pillow.
func nearest(dst, src plane, from box, w, h int, window box) {
	across := make([]int, window.w)
	for x := range across {
		across[x] = from.x + (2*(window.x+x)+1)*from.w/(2*w)
	}
	for y := range window.h {
		row, to := src.row(from.y+(2*(window.y+y)+1)*from.h/(2*h)), dst.row(y)
		for x, at := range across {
			to[x] = row[at]
		}
	}
}
