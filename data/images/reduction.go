package images

import (
	"context"
	"sort"
)

// Reduction scales a picture row by row while it is decoded, with the same result as Scaling.Fit for the
// whole picture.
type Reduction struct {
	dst, src      Plane // the result and the picture; src has only its size
	w, h          int   // size of the scaled picture
	window        Box   // the part of the scaled picture that becomes dst
	columns, rows []curve
	first         int   // number of the picture's row that is stored as the first row of middle
	middle        Plane // rows after the first pass, which scales along rows

	// The fields below are used if rows of the file are columns of the picture. For each unfinished column of
	// middle, sums has the sums so far, and remaining the number of rows of the file that must still be added.
	sums      map[int][]int32
	remaining map[int]int
	free      [][]int32
}

// newReduction returns the reduction of src to dst. src is scaled to w x h pixels by a filter, and the given
// window of the result becomes dst.
func newReduction(f Filter, dst, src Plane, w, h int, window Box) *Reduction {
	r := &Reduction{dst: dst, src: src, w: w, h: h, window: window}
	if r.scales() {
		r.columns = f.curves(0, src.W, r.w, r.window.X, dst.W)
		r.rows = f.curves(0, src.H, r.h, r.window.Y, dst.H)
		r.first, r.middle.H = reach(r.rows)
		r.middle.W, r.middle.C = dst.W, src.C
	}
	return r
}

// scales reports whether the picture is scaled at all, not only cropped.
func (r *Reduction) scales() bool { return r.w != r.src.W || r.h != r.src.H }

// Memory returns the number of bytes that the reduction needs, without the decoder.
func (r *Reduction) Memory(f *File) int64 {
	const word = 4
	n := int64(r.middle.H) * int64(r.middle.W) * int64(r.middle.C)
	if f.swapped() && r.scales() {
		columns := 1
		for x, c := range r.columns {
			over := sort.Search(len(r.columns),
				func(k int) bool { return r.columns[k].start >= c.start+len(c.weights) })
			columns = max(columns, over-x)
		}
		n += int64(columns) * int64(r.src.H) * int64(r.src.C) * word
	}
	for _, curves := range [][]curve{r.columns, r.rows} {
		for _, c := range curves {
			n += int64(word * len(c.weights))
		}
	}
	return n
}

// Decode reads the picture and writes it to dst.
func (r *Reduction) Decode(ctx context.Context, f *File) error {
	if !r.scales() {
		return f.eachRow(ctx, func(y int, pixels []byte) { r.crop(f, y, pixels) })
	}
	r.middle.Pix = make([]byte, r.middle.H*r.middle.W*r.middle.C)
	r.sums, r.remaining = map[int][]int32{}, map[int]int{}
	err := f.eachRow(ctx, func(y int, pixels []byte) {
		at, backwards := f.line(y)
		if backwards {
			reverse(pixels)
		}
		if f.swapped() {
			r.column(at, pixels)
		} else if at -= r.first; at >= 0 && at < r.middle.H {
			resampleRow(r.middle.Row(at), pixels, r.src.C, r.columns)
		}
	})
	if err == nil {
		resampleDown(r.dst, r.middle, r.first, r.rows)
	}
	return err
}

// column adds column x of the picture to those columns of middle that depend on it. The order of additions
// differs from resampleRow, but sums of integers do not depend on the order.
func (r *Reduction) column(x int, pixels []byte) {
	from := sort.Search(len(r.columns), func(k int) bool {
		return r.columns[k].start+len(r.columns[k].weights) > x
	})
	for k := from; k < len(r.columns) && r.columns[k].start <= x; k++ {
		c := r.columns[k]
		sums, begun := r.sums[k]
		if !begun {
			sums = r.begin()
			r.sums[k], r.remaining[k] = sums, len(c.weights)
		}
		weight := c.weights[x-c.start]
		for i, v := range pixels[r.first*r.src.C:][:len(sums)] {
			sums[i] += weight * int32(v)
		}
		if r.remaining[k]--; r.remaining[k] == 0 {
			for y := range r.middle.H {
				pixel := r.middle.Row(y)[k*r.src.C:]
				for i, sum := range sums[y*r.src.C:][:r.src.C] {
					pixel[i] = rounded(sum)
				}
			}
			delete(r.sums, k)
			r.free = append(r.free, sums)
		}
	}
}

// begin returns new sums. They begin with one half, so that the result is rounded.
func (r *Reduction) begin() []int32 {
	var sums []int32
	if n := len(r.free); n > 0 {
		sums, r.free = r.free[n-1], r.free[:n-1]
	} else {
		sums = make([]int32, r.middle.H*r.src.C)
	}
	for i := range sums {
		sums[i] = 1 << (fraction - 1)
	}
	return sums
}

// crop copies the visible part of row y of the file to dst, without scaling.
func (r *Reduction) crop(f *File, y int, pixels []byte) {
	at, backwards := f.line(y)
	if backwards {
		reverse(pixels)
	}
	c := r.src.C
	if !f.swapped() {
		if at -= r.window.Y; at >= 0 && at < r.dst.H {
			copy(r.dst.Row(at), pixels[c*r.window.X:][:c*r.dst.W])
		}
		return
	}
	if at -= r.window.X; at < 0 || at >= r.dst.W {
		return
	}
	for row := range r.dst.H {
		copy(r.dst.Row(row)[c*at:][:c], pixels[c*(r.window.Y+row):])
	}
}
