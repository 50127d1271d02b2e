package data

import (
	"bytes"
	"context"
	"hash/maphash"

	"github.com/bnctl/bnctl/data/internal/stream"
	"github.com/bnctl/bnctl/tensor"
)

// readAllOf is the largest number of samples that are all read, in order, to find one of them. It
// applies to sources that may not be in memory.
const readAllOf = 8192

// Within reports whether outer contains every sample of inner, regardless of names and labels. If so, figures
// on inner show nothing about samples that are new to a model trained on outer. Picture files are compared
// byte by byte, and all other samples by their elements. A custom source, or a pair of sources of different
// kinds, may have more than 8192 samples; then only samples at the same position are compared.
func Within(ctx context.Context, inner, outer Source) (bool, error) {
	in, out := inner.Info(), outer.Info()
	if in.Len < 1 || out.Len < 1 || in.DType != out.DType {
		return false, nil
	}
	if a, ok := drawnBy(inner); ok {
		if b, ok := drawnBy(outer); ok {
			return a == b && in.Len <= out.Len, nil
		}
	}
	find := amongSamples(inner, outer)
	if a, b := picturesOf(inner), picturesOf(outer); a != nil && b != nil {
		find = amongFiles(a, b)
	}
	for i := range in.Len {
		if ok, err := find(ctx, i); err != nil || !ok {
			return false, err
		}
	}
	return true, nil
}

// drawn identifies a sequence of samples that are drawn on the fly.
type drawn struct {
	kind  string
	epoch uint32
}

func drawnBy(s Source) (drawn, bool) {
	switch s := s.(type) {
	case *glyphs:
		return drawn{s.info.Kind, s.epoch}, true
	case *shapes:
		return drawn{s.info.Kind, s.epoch}, true
	}
	return drawn{}, false
}

// picturesOf returns the pictures of a source of picture files, or nil for other sources.
func picturesOf(s Source) *pictures {
	switch s := s.(type) {
	case *pictures:
		return s
	case *masks:
		return s.pictures
	}
	return nil
}

// amongFiles returns a function that reports whether a file of inner equals a file of outer. It compares
// files of the same size, first those with the same name.
func amongFiles(inner, outer *pictures) func(context.Context, int) (bool, error) {
	ofSize := map[int64][]sampleFile{}
	for _, s := range outer.samples {
		if s.read != nil { // read is nil for a mask without a picture
			ofSize[s.size] = append(ofSize[s.size], s)
		}
	}
	return func(ctx context.Context, i int) (bool, error) {
		mine := inner.samples[i]
		if mine.read == nil {
			return false, nil
		}
		file, err := mine.read()
		if err != nil {
			return false, inner.wrap(i, err)
		}
		for _, sameName := range []bool{true, false} {
			for _, s := range ofSize[mine.size] {
				if (s.rest == mine.rest) != sameName {
					continue
				}
				if err := stream.ContextErr(ctx); err != nil {
					return false, err
				}
				theirs, err := s.read()
				if err != nil {
					return false, err
				}
				if bytes.Equal(file, theirs) {
					return true, nil
				}
			}
		}
		return false, nil
	}
}

// amongSamples returns a function that reports whether a sample of inner equals a sample of outer. It
// compares it first with the sample at the same position, and then with all samples.
func amongSamples(inner, outer Source) func(context.Context, int) (bool, error) {
	seed := maphash.MakeSeed()
	sum := func(t tensor.Tensor) uint64 { return maphash.Bytes(seed, t.Bytes) }
	var all map[uint64]bool
	return func(ctx context.Context, i int) (bool, error) {
		mine, err := inner.Sample(ctx, i)
		if err != nil {
			return false, err
		}
		if all == nil && i < outer.Info().Len {
			theirs, err := outer.Sample(ctx, i)
			if err != nil || bytes.Equal(mine.Bytes, theirs.Bytes) {
				return err == nil, err
			}
		}
		if all == nil {
			all, err = sumsOf(ctx, outer, sum)
		}
		return all[sum(mine)], err
	}
}

// sumsOf returns the sums of all samples of s, or an empty map if s has too many samples to read them all.
func sumsOf(ctx context.Context, s Source, sum func(tensor.Tensor) uint64) (map[uint64]bool, error) {
	n := s.Info().Len
	if _, ok := s.(*memory); !ok && n > readAllOf {
		return map[uint64]bool{}, nil
	}
	sums := make([]uint64, n)
	err := eachSample(n, func(i int) error {
		t, err := s.Sample(ctx, i)
		sums[i] = sum(t)
		return err
	})
	all := make(map[uint64]bool, n)
	for _, v := range sums {
		all[v] = true
	}
	return all, err
}
