// Package samples makes data sources from sets with boxes. Use OpenData to open any data by its spec, for
// training a detector or another model.
package samples

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/data/images"
	"github.com/bnctl/bnctl/objects"
	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/tensor"
)

// source has the pictures of one split of a set. All labels of all splits have the same shape, with room for
// the largest number of boxes that a picture of the set has.
type source struct {
	set      *objects.Set // set with the files of all splits
	selected *objects.Set
	info     data.Info
	labels   [][]int32
}

// OpenData opens any data: a set with boxes by openBoxes, and everything else by data.Open. A table with
// boxes is opened by data.Open if o names columns: then its labels are classes of pictures.
func OpenData(ctx context.Context, spec string, o data.Options) (data.Source, error) {
	if !objects.HasBoxes(ctx, spec) || o.Columns != "" && strings.HasPrefix(spec, "csv:") {
		return data.Open(ctx, spec, o)
	}
	if err := checkOptions(spec, o); err != nil {
		return nil, err
	}
	return openBoxes(ctx, spec, o.Split)
}

// openBoxes opens a split of a set with boxes, for example voc:FOLDER or coco:FILE@val. If the spec has no
// suffix, it opens the given split, or all pictures if the set has no splits or split is "". If the set has
// no Val, Test replaces it, and the other way round.
func openBoxes(ctx context.Context, spec string, split data.Split) (data.Source, error) {
	form, suffix := objects.CutSplit(spec)
	set, err := objects.Open(ctx, form, objects.Options{})
	if err != nil {
		return nil, err
	}
	s, err := newSource(set, form, suffix, split)
	if err != nil {
		set.Close()
		return nil, err
	}
	return s, nil
}

func newSource(set *objects.Set, form string, suffix, split data.Split) (*source, error) {
	if suffix == "" {
		suffix = choose(set, split)
	}
	selected, err := set.Select(suffix)
	if err != nil {
		return nil, err
	}
	if err := selected.CheckObjects(); err != nil {
		return nil, err
	}
	most := 1
	for _, p := range set.Pictures {
		most = max(most, len(p.Objects))
	}
	kind, _, _ := strings.Cut(form, ":")
	s := &source{set: set, selected: selected, info: data.Info{Kind: kind, Split: suffix,
		Len: len(selected.Pictures), DType: tensor.U8, Labelled: true, Boxes: true,
		LabelShape: []int{most, data.BoxFields}, Classes: set.Classes, Decoder: images.DecoderVersion,
		EXIF: true}}
	s.info.Shape = sizeOf(selected)
	for _, p := range selected.Pictures {
		s.labels = append(s.labels, label(p, most))
	}
	return s, nil
}

// choose returns the split to open for a spec without a suffix.
func choose(set *objects.Set, split data.Split) data.Split {
	if split == "" {
		return ""
	}
	has := func(split data.Split) bool { return hasSplit(set, split) }
	other := map[data.Split]data.Split{data.Val: data.Test, data.Test: data.Val}[split]
	switch {
	case has(split):
		return split
	case other != "" && has(other):
		return other
	case has(data.Train) || has(data.Val) || has(data.Test):
		return split // Select returns the error
	}
	return ""
}

// sizeOf returns the shape of the pictures, or nil if their shapes differ.
func sizeOf(set *objects.Set) []int {
	first := set.Pictures[0]
	for _, p := range set.Pictures {
		if p.Width != first.Width || p.Height != first.Height {
			return nil
		}
	}
	return []int{first.Height, first.Width, 3}
}

// label returns the boxes of a picture as a label. Boxes are cut at the border of the picture, and empty
// boxes are left out.
func label(p objects.Picture, limit int) []int32 {
	all := make([]int32, 0, limit*data.BoxFields)
	put := func(b data.Box) {
		all = append(all, make([]int32, data.BoxFields)...)
		b.Put(all[len(all)-data.BoxFields:])
	}
	for _, o := range p.Objects {
		c := o.Box.Clip(p.Width, p.Height)
		b := data.Box{Class: int32(o.Class)}
		b.Corners = [4]float32{float32(c.X1), float32(c.Y1), float32(c.X2), float32(c.Y2)}
		if o.Difficult || o.Crowd {
			b.Class = -2 - b.Class
		}
		if c.Area() > 0 {
			put(b)
		}
	}
	for len(all) < limit*data.BoxFields {
		put(data.Box{Class: data.NoBox})
	}
	return all
}

// Info implements data.Source.
func (s *source) Info() data.Info { return s.info }

// Sample implements data.Source.
func (s *source) Sample(ctx context.Context, i int) (tensor.Tensor, error) {
	return s.selected.Decode(ctx, i)
}

// Label implements data.Source.
func (s *source) Label(_ context.Context, i int) ([]int32, error) { return s.labels[i], nil }

// Name implements data.Source.
func (s *source) Name(i int) string { return s.selected.Pictures[i].Name }

// Close implements data.Source.
func (s *source) Close() error { return s.set.Close() }

// Fingerprint implements data.Source. It reads all files.
func (s *source) Fingerprint(ctx context.Context) (string, error) {
	h := sha256.New()
	fmt.Fprintf(h, "bnctl boxes 1\ndecoder %s\n%q\n", s.info.Decoder, s.info.Classes)
	for i := range s.labels {
		if ctx.Err() != nil {
			return "", context.Cause(ctx)
		}
		b, err := s.selected.File(i)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(h, "%d %d\n", s.labels[i], len(b))
		_, _ = h.Write(b) // a hash has no errors
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// OpenHeldOut is like data.OpenHeldOut, for all data that OpenData opens.
func OpenHeldOut(ctx context.Context, spec string, o data.Options, h data.Holdout, fingerprint string) (
	data.Source, error) {
	return data.Opener(OpenData).OpenHeldOut(ctx, spec, o, h, fingerprint)
}

// Set returns the set of boxes that a source of OpenData or OpenHeldOut reads, with only the pictures of the
// source. ok is false if the source reads no set of boxes.
func Set(src data.Source) (set *objects.Set, ok bool) {
	if whole, indices, is := data.PartOf(src); is {
		all, ok := Set(whole)
		if !ok {
			return nil, false
		}
		selected := *all
		selected.Pictures = nil
		for _, i := range indices {
			selected.Pictures = append(selected.Pictures, all.Pictures[i])
		}
		return &selected, true
	}
	s, ok := src.(*source)
	if !ok {
		return nil, false
	}
	return s.selected, true
}

// LacksSplit reports whether src comes from a set with boxes, and this set has no picture in a split.
func LacksSplit(src data.Source, split data.Split) bool {
	s, ok := src.(*source)
	return ok && !hasSplit(s.set, split)
}

func hasSplit(set *objects.Set, split data.Split) bool {
	return slices.ContainsFunc(set.Pictures, func(p objects.Picture) bool { return p.Split == split })
}

// checkOptions returns an error if options are set that do not apply to a set with boxes.
func checkOptions(spec string, o data.Options) error {
	refuse := func(option, value string) error {
		return problem.New(option, value, spec+" is a set with boxes, which has no such option", "leave it off")
	}
	switch {
	case o.Masks != (data.MaskOptions{}):
		return refuse("mask-values", o.Masks.Values)
	case o.Columns != "":
		return refuse("csv-columns", o.Columns)
	case o.SkipBad != 0:
		return refuse("skip-bad", "")
	case !o.EXIF:
		return refuse("exif", data.IgnoreEXIF)
	}
	return nil
}
