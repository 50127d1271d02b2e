package data

import (
	"context"
	"fmt"
	"slices"
	"sort"
	"strconv"

	"github.com/bnctl/bnctl/data/images"
	"github.com/bnctl/bnctl/data/internal/stream"
	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/tensor"
)

// Windows is a source of the inputs that a Fit makes from the pictures of another source: one or more inputs
// for each picture. They are in the order of the pictures, and have no labels.
type Windows struct {
	Source
	t     Transform
	views [][]images.View // views of each picture
	sizes [][2]int        // height and width of each picture
	ends  []int           // total number of windows up to the end of each picture
	info  Info
}

// Window is the position of one input of Windows. The picture was scaled to Height x Width pixels, and (X, Y)
// is the upper left corner of the input in it. The input may extend beyond the right and the lower edge.
type Window struct {
	Sample        int // number of the picture
	Height, Width int // size of the scaled picture
	X, Y          int
	Last          bool // this is the last window of the picture
}

// NewWindows reads the sizes of all pictures of src and returns their windows. The caller closes src. A
// picture that cannot be read has one window, where Sample returns the error. overlap is the share of a
// window's side by which it overlaps its neighbour, 0 to 0.9. The error is a *problem.Error about the option
// fit or overlap, or the context's error.
func NewWindows(ctx context.Context, src Source, t Transform, f Fit, overlap float64) (*Windows, error) {
	info := src.Info()
	if !info.Pictures() || t.Height < 1 || t.Width < 1 {
		return nil, problem.New("fit", string(f), "it is for pictures; the samples are "+
			tensor.Describe(info.DType, info.Shape), "")
	}
	if !(overlap >= 0 && overlap <= 0.9) {
		return nil, problem.New("overlap", strconv.FormatFloat(overlap, 'g', -1, 64), "want 0 to 0.9", "")
	}
	shape, err := t.Shape(info)
	if err != nil {
		return nil, err
	}
	w := &Windows{Source: src, t: t, sizes: make([][2]int, info.Len), views: make([][]images.View, info.Len)}
	if err := w.measure(ctx); err != nil {
		return nil, err
	}
	total := 0
	for i, size := range w.sizes {
		w.views[i] = t.views(f, overlap, size[0], size[1])
		total += len(w.views[i])
		w.ends = append(w.ends, total)
	}
	w.info = Info{Kind: info.Kind, Split: info.Split, Len: total, DType: tensor.U8, Shape: shape,
		Decoder: info.Decoder, EXIF: info.EXIF}
	return w, nil
}

// measured is a source that can find the size of a picture without decoding it.
type measured interface {
	measure(ctx context.Context, i int) (h, w int, err error)
}

// measure finds the sizes of all pictures. If the size of a picture cannot be read, it gets the size of the
// input, and the error is reported when the picture is read.
func (w *Windows) measure(ctx context.Context) error {
	shape := w.Source.Info().Shape
	return eachSample(len(w.sizes), func(i int) error {
		if shape != nil {
			w.sizes[i] = [2]int{shape[0], shape[1]}
			return nil
		}
		high, width, err := sizeIn(ctx, w.Source, i)
		if err != nil {
			high, width = w.t.Height, w.t.Width
		}
		w.sizes[i] = [2]int{high, width}
		return stream.ContextErr(ctx)
	})
}

// sizeIn returns the size of picture i of src.
func sizeIn(ctx context.Context, src Source, i int) (h, w int, err error) {
	if m, ok := src.(measured); ok {
		return m.measure(ctx, i)
	}
	picture, err := src.Sample(ctx, i)
	if err != nil {
		return 0, 0, err
	}
	return picture.Shape[0], picture.Shape[1], nil
}

func (p *pictures) measure(ctx context.Context, i int) (h, w int, err error) {
	file, err := p.samples[i].read()
	if err != nil {
		return 0, 0, err
	}
	return images.Size(ctx, file, p.exif)
}

func (j *concatenated) measure(ctx context.Context, i int) (h, w int, err error) {
	src, i := j.locate(i)
	return sizeIn(ctx, src, i)
}

// Size returns the height and width of picture number sample.
func (w *Windows) Size(sample int) (height, width int) { return w.sizes[sample][0], w.sizes[sample][1] }

// Window returns the position of input k.
func (w *Windows) Window(k int) Window {
	sample, n := w.locate(k)
	v := w.views[sample][n]
	return Window{sample, v.H, v.W, v.X, v.Y, n == len(w.views[sample])-1}
}

// locate returns the number of the picture that input k shows, and the number of the window in that picture.
func (w *Windows) locate(k int) (sample, n int) {
	sample = sort.SearchInts(w.ends, k+1)
	if sample > 0 {
		k -= w.ends[sample-1]
	}
	return sample, k
}

// Info implements Source.
func (w *Windows) Info() Info { return w.info }

// Sample implements Source.
func (w *Windows) Sample(ctx context.Context, k int) (tensor.Tensor, error) {
	sample, n := w.locate(k)
	picture, err := w.Source.Sample(ctx, sample)
	if err == nil && !slices.Equal(picture.Shape[:2], w.sizes[sample][:]) {
		err = fmt.Errorf("%s is of %d x %d pixels, and was of %d x %d when it was opened", w.Source.Name(sample),
			picture.Shape[1], picture.Shape[0], w.sizes[sample][1], w.sizes[sample][0])
	}
	if err != nil {
		return tensor.Tensor{}, err
	}
	dst := tensor.New(tensor.U8, w.info.Shape...)
	w.t.applyView(dst, picture, w.views[sample][n])
	return dst, nil
}

// Label implements Source.
func (w *Windows) Label(context.Context, int) ([]int32, error) { return nil, nil }

// Name implements Source.
func (w *Windows) Name(k int) string {
	sample, _ := w.locate(k)
	return w.Source.Name(sample)
}
