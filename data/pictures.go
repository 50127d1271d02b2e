package data

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/bnctl/bnctl/data/images"
	"github.com/bnctl/bnctl/tensor"
)

// pictures is a source of encoded pictures, which are decoded when they are needed.
type pictures struct {
	info    Info
	samples []sampleFile
	labels  []int32
	cache   *cache
	close   func() error
	prefix  string // text before the name of a sample in an error: "folder:PATH: member "
	size    []int  // height and width that every picture must have; nil: any size
	exif    bool   // turn pictures by their EXIF orientation
	table   bool   // the samples are rows of a table, and their names are full paths
	weighed bool   // the table has a column of weights
}

// openFolder opens folder:PATH.
func openFolder(ctx context.Context, s spec, opt Options) (Source, error) {
	t, err := openTree(ctx, s.path, images.IsFileName)
	if err != nil {
		return nil, err
	}
	p, err := treePictures(s, t, opt)
	if err != nil {
		return nil, err
	}
	if err := p.findShape(ctx, opt); err != nil {
		p.Close()
		return nil, err
	}
	return p, nil
}

// treePictures returns a source of the split that s requests, from a tree of class folders. It owns t, and
// closes it if it returns an error.
func treePictures(s spec, t *tree, opt Options) (*pictures, error) {
	l, err := layoutOf(t.members)
	if err != nil {
		return nil, errors.Join(err, t.close())
	}
	p, err := newPictures(s, l, l.classes(), opt)
	if err != nil {
		return nil, errors.Join(err, t.close())
	}
	p.close, p.info.Ignored, p.info.Empty = t.close, t.ignored, t.empty
	return p, nil
}

// newPictures returns a source of the split that s requests, from the samples of a layout. classes are the
// names of the classes. The caller sets the field close.
func newPictures(s spec, l layout, classes []string, opt Options) (*pictures, error) {
	samples, split, err := l.pick(s)
	if err != nil {
		return nil, err
	}
	holdUnchanged(samples)
	p := &pictures{samples: samples, cache: newCache(len(samples), opt), exif: opt.EXIF}
	p.prefix = s.String() + ": member "
	p.info = Info{
		Kind: s.kind, Split: split, Len: len(samples),
		DType: tensor.U8, Labelled: true, Classes: classes, Decoder: images.DecoderVersion,
		EXIF: opt.EXIF,
	}
	p.info.columns, p.info.formats = l.note, []*formatSet{{}}
	p.info.requested, p.info.Kinds = s.requested(split), kindsOf(samples)
	number := map[string]int32{}
	for i, c := range classes {
		number[c] = int32(i)
	}
	if samples[0].label != nil {
		p.info.LabelShape = []int{len(samples[0].label)}
	}
	for _, c := range samples {
		if c.label != nil {
			p.labels = append(p.labels, c.label...)
			continue
		}
		p.labels = append(p.labels, number[c.class])
	}
	return p, nil
}

// kindsOf counts the files of samples by extension.
func kindsOf(samples []sampleFile) map[string]int {
	kinds := map[string]int{}
	for _, s := range samples {
		kinds[strings.ToLower(path.Ext(s.name))]++
	}
	return kinds
}

// findShape reads the sizes of all pictures, unless there are very many, and sets info.Shape if all sizes are
// equal. If a file is not a picture, or is truncated, findShape returns an error; other damage is found
// later, when the file is read. But if bad files may be left out, findShape finds all damage, and leaves
// these files out.
func (p *pictures) findShape(ctx context.Context, opt Options) error {
	if !opt.checksAllSizes(len(p.samples)) {
		return nil
	}
	defer p.readInOrder(ctx, 1)()
	var mu sync.Mutex
	sizes := map[[2]int]bool{}
	bad, err := p.badFiles(ctx, func(i int) error {
		h, w, err := p.sizeOf(ctx, i, opt)
		if err == nil {
			mu.Lock()
			defer mu.Unlock()
			sizes[[2]int{h, w}] = true
		}
		return err
	})
	if err == nil {
		err = p.removeBad(bad, opt)
	}
	if err != nil {
		return err
	}
	if len(sizes) == 1 {
		for size := range sizes {
			p.info.Shape = []int{size[0], size[1], 3}
		}
	}
	return nil
}

// sizeOf returns the height and width of a picture. It decodes the whole picture if bad files may be left
// out, or if the end marker of the file is missing.
func (p *pictures) sizeOf(ctx context.Context, i int, opt Options) (h, w int, err error) {
	file, err := p.samples[i].read()
	if err != nil {
		return 0, 0, err
	}
	if h, w, err = images.Size(ctx, file, p.exif); err == nil && (opt.SkipBad != 0 || !images.HasEnd(file)) {
		_, err = images.Decode(ctx, file, p.exif)
	}
	if err == nil {
		err = p.ofSize(h, w)
	}
	return h, w, err
}

// ofSize returns an error if pictures must have a certain size and h, w is not this size.
func (p *pictures) ofSize(h, w int) error {
	if p.size == nil || slices.Equal(p.size, []int{h, w}) {
		return nil
	}
	return fmt.Errorf("a picture of %d x %d pixels, want %d x %d", w, h, p.size[1], p.size[0])
}

// Info implements Source.
func (p *pictures) Info() Info { return p.info }

// Sample implements Source.
func (p *pictures) Sample(ctx context.Context, i int) (tensor.Tensor, error) {
	return p.cache.get(i, func(i int) (tensor.Tensor, error) { return p.decode(ctx, i) })
}

func (p *pictures) decode(ctx context.Context, i int) (tensor.Tensor, error) {
	file, err := p.samples[i].read()
	if err != nil {
		return tensor.Tensor{}, p.wrap(i, err)
	}
	return p.decoded(ctx, i, file)
}

// decoded returns the picture in the file of sample i.
func (p *pictures) decoded(ctx context.Context, i int, file []byte) (tensor.Tensor, error) {
	t, err := images.Decode(ctx, file, p.exif)
	if err == nil {
		err = p.ofSize(t.Shape[0], t.Shape[1])
	}
	if err != nil {
		return tensor.Tensor{}, p.wrap(i, err)
	}
	return t, nil
}

// transformed implements transformer. It scales a large picture while it decodes it. Other pictures are
// decoded and cached.
func (p *pictures) transformed(ctx context.Context, i int, t Transform, dst tensor.Tensor) error {
	if cached := p.cache.slots[i].Load(); cached != nil {
		t.Apply(dst, *cached, nil)
		return nil
	}
	file, err := p.samples[i].read()
	if err != nil {
		return p.wrap(i, err)
	}
	h, w, err := images.Size(ctx, file, p.exif)
	if err == nil && h*w > images.FreePixels && p.ofSize(h, w) == nil {
		if err := t.Decode(ctx, dst, file, p.exif); err != nil {
			return p.wrap(i, err)
		}
		return nil
	}
	picture, err := p.cache.get(i, func(i int) (tensor.Tensor, error) { return p.decoded(ctx, i, file) })
	if err == nil {
		t.Apply(dst, picture, nil)
	}
	return err
}

// wrap adds the name of the sample to an error.
func (p *pictures) wrap(i int, err error) error {
	return fmt.Errorf("%s%s: %w", p.prefix, p.samples[i].name, err)
}

// Label implements Source.
func (p *pictures) Label(_ context.Context, i int) ([]int32, error) {
	if p.labels == nil {
		return nil, nil
	}
	n := tensor.Count(p.info.LabelShape)
	return p.labels[i*n : (i+1)*n], nil
}

// Name implements Source.
func (p *pictures) Name(i int) string { return p.samples[i].name }

// Close implements Source.
func (p *pictures) Close() error { return p.close() }
