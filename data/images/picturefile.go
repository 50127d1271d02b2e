package images

import (
	"context"
	"fmt"

	"github.com/bnctl/bnctl/data/internal/stream"
	"github.com/bnctl/bnctl/problem"
)

// File is an encoded picture, of which the headers have been read.
type File struct {
	file        []byte
	codec       int
	h, w        int // size as stored in the file; an orientation above 4 exchanges height and width
	orientation int
}

// Open reads the headers of a file. It returns an error if decoding the file would need too much work.
func Open(ctx context.Context, file []byte, exif bool) (f *File, err error) {
	h, w, err := Size(ctx, file, false)
	if err != nil {
		return nil, err
	}
	codec, err := codecOf(file)
	if err != nil {
		return nil, err
	}
	defer stream.RecoverError(&err)
	if err := checkSize(file, codecs[codec].name, h, w); err != nil {
		return nil, fmt.Errorf("%s: %w", codecs[codec].name, err)
	}
	f = &File{file, codec, h, w, upright}
	if exif {
		f.orientation = orientation(file, codecs[codec].name)
	}
	return f, nil
}

// Size returns the height and width of the picture after it is turned upright.
func (f *File) Size() (h, w int) {
	if f.swapped() {
		return f.w, f.h
	}
	return f.h, f.w
}

// swapped reports whether the rows of the file are columns of the picture.
func (f *File) swapped() bool { return f.orientation > 4 }

// eachRow decodes the file and calls visit with each row.
func (f *File) eachRow(ctx context.Context, visit eachPixels) (err error) {
	defer stream.RecoverError(&err)
	rows := 0
	err = codecs[f.codec].rows(ctx, f.file, func(y int, pixels []byte) {
		rows++
		visit(y, pixels[:3*f.w])
	})
	if err := stream.ContextErr(ctx); err != nil {
		return err
	}
	if err == nil && rows != f.h {
		err = fmt.Errorf("%s of pixels, want %d", problem.Plural(rows, "row"), f.h)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", codecs[f.codec].name, stream.CutShort(err))
	}
	return nil
}

// line returns the row of the picture that row y of the file becomes, or the column if rows and columns are
// swapped. backwards reports whether its pixels run from right to left, or upwards.
func (f *File) line(y int) (index int, backwards bool) {
	if f.swapped() {
		backwards = f.orientation == 7 || f.orientation == 8
		if f.orientation == 6 || f.orientation == 7 {
			y = f.h - 1 - y
		}
		return y, backwards
	}
	backwards = f.orientation == 2 || f.orientation == 3
	if f.orientation == 3 || f.orientation == 4 {
		y = f.h - 1 - y
	}
	return y, backwards
}

// writeRow writes row y of the file to its position in the upright picture.
func (f *File) writeRow(picture Plane, y int, pixels []byte) {
	at, backwards := f.line(y)
	if backwards {
		reverse(pixels)
	}
	if !f.swapped() {
		copy(picture.Row(at), pixels)
		return
	}
	for row := range picture.H {
		copy(picture.Pix[3*(row*picture.W+at):][:3], pixels[3*row:])
	}
}

// reverse reverses the order of pixels in place.
func reverse(pixels []byte) {
	for i, k := 0, len(pixels)-3; i < k; i, k = i+3, k-3 {
		a, b := pixels[i:i+3], pixels[k:k+3]
		a[0], a[1], a[2], b[0], b[1], b[2] = b[0], b[1], b[2], a[0], a[1], a[2]
	}
}

// eachRow calls f for rows 0 to h-1 of a picture, until the context ends.
func eachRow(ctx context.Context, h int, f func(y int)) error {
	for y := range h {
		if err := stream.ContextErr(ctx); err != nil {
			return err
		}
		f(y)
	}
	return nil
}

// Dimensions has the size in pixels of a picture as its file stores it, and its EXIF orientation, 1 to 8. If
// the orientation is above 4, the upright picture has width and height exchanged.
type Dimensions struct{ Width, Height, Orientation int }

// Measure reads the headers of a picture file.
func Measure(ctx context.Context, file []byte) (Dimensions, error) {
	f, err := Open(ctx, file, true)
	if err != nil {
		return Dimensions{}, err
	}
	return Dimensions{f.w, f.h, f.orientation}, nil
}
