package data

import (
	"context"
	"sort"
)

// reduction scales a picture that arrives row by row: fit, in strips.
type reduction struct {
	dst, src     plane // src without pixels
	w, h         int   // size of src after scaling
	window       box   // the part of the scaled src that becomes dst
	across, down []curve
	first        int   // number of the picture's row that is the first row of middle
	middle       plane // rows after the first pass

	// If rows of the file are columns of the picture: the sums for unfinished columns of
	// middle, and the number of rows of the file still to be added to each.
	sums map[int][]int32
	left map[int]int
	free [][]int32
}

// newReduction returns the reduction of src to dst: the window of src scaled to w x h by a filter.
func newReduction(f Filter, dst, src plane, w, h int, window box) *reduction {
	r := &reduction{dst: dst, src: src, w: w, h: h, window: window}
	if r.scales() {
		r.across = f.curves(0, src.w, r.w, r.window.x, dst.w)
		r.down = f.curves(0, src.h, r.h, r.window.y, dst.h)
		r.first, r.middle.h = reach(r.down)
		r.middle.w, r.middle.c = dst.w, src.c
	}
	return r
}

// scales reports whether the picture is scaled at all, not only cropped.
func (r *reduction) scales() bool { return r.w != r.src.w || r.h != r.src.h }

// memory returns the number of bytes that it needs, without the decoder.
func (r *reduction) memory(f *pictureFile) int64 {
	const word = 4
	n := int64(r.middle.h) * int64(r.middle.w) * int64(r.middle.c)
	if f.swapped() && r.scales() {
		columns := 1
		for x, c := range r.across {
			over := sort.Search(len(r.across), func(k int) bool { return r.across[k].start >= c.start+len(c.weights) })
			columns = max(columns, over-x)
		}
		n += int64(columns) * int64(r.src.h) * int64(r.src.c) * word
	}
	for _, curves := range [][]curve{r.across, r.down} {
		for _, c := range curves {
			n += int64(word * len(c.weights))
		}
	}
	return n
}

// decode reads the picture and writes it to dst.
func (r *reduction) decode(ctx context.Context, f *pictureFile) error {
	if !r.scales() {
		return f.each(ctx, func(y int, pixels []byte) { r.crop(f, y, pixels) })
	}
	r.middle.pix = make([]byte, r.middle.h*r.middle.w*r.middle.c)
	r.sums, r.left = map[int][]int32{}, map[int]int{}
	err := f.each(ctx, func(y int, pixels []byte) {
		at, backwards := f.line(y)
		if backwards {
			reverse(pixels)
		}
		if f.swapped() {
			r.column(at, pixels)
		} else if at -= r.first; at >= 0 && at < r.middle.h {
			resampleRow(r.middle.row(at), pixels, r.src.c, r.across)
		}
	})
	if err == nil {
		resampleDown(r.dst, r.middle, r.first, r.down)
	}
	return err
}

// column adds column x of the picture to the columns of middle that depend on it. It adds
// in another order than resampleRow, but the sums of integers are equal.
func (r *reduction) column(x int, pixels []byte) {
	from := sort.Search(len(r.across), func(k int) bool {
		return r.across[k].start+len(r.across[k].weights) > x
	})
	for k := from; k < len(r.across) && r.across[k].start <= x; k++ {
		c := r.across[k]
		sums, begun := r.sums[k]
		if !begun {
			sums = r.begin()
			r.sums[k], r.left[k] = sums, len(c.weights)
		}
		weight := c.weights[x-c.start]
		for i, v := range pixels[r.first*r.src.c:][:len(sums)] {
			sums[i] += weight * int32(v)
		}
		if r.left[k]--; r.left[k] == 0 {
			for y := range r.middle.h {
				pixel := r.middle.row(y)[k*r.src.c:]
				for i, sum := range sums[y*r.src.c:][:r.src.c] {
					pixel[i] = rounded(sum)
				}
			}
			delete(r.sums, k)
			r.free = append(r.free, sums)
		}
	}
}

// begin returns sums initialised to a half, for rounding.
func (r *reduction) begin() []int32 {
	var sums []int32
	if n := len(r.free); n > 0 {
		sums, r.free = r.free[n-1], r.free[:n-1]
	} else {
		sums = make([]int32, r.middle.h*r.src.c)
	}
	for i := range sums {
		sums[i] = 1 << (fraction - 1)
	}
	return sums
}

// crop writes the visible part of row y of the file to dst.
func (r *reduction) crop(f *pictureFile, y int, pixels []byte) {
	at, backwards := f.line(y)
	if backwards {
		reverse(pixels)
	}
	c := r.src.c
	if !f.swapped() {
		if at -= r.window.y; at >= 0 && at < r.dst.h {
			copy(r.dst.row(at), pixels[c*r.window.x:][:c*r.dst.w])
		}
		return
	}
	if at -= r.window.x; at < 0 || at >= r.dst.w {
		return
	}
	for row := range r.dst.h {
		copy(r.dst.row(row)[c*at:][:c], pixels[c*(r.window.y+row):])
	}
}
