package data

import (
	"context"
	"crypto/sha256"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/bnctl/bnctl/data/images"
	"github.com/bnctl/bnctl/data/internal/stream"
	"github.com/bnctl/bnctl/tensor"
)

// Equal pictures are found in two steps. The first step compares a key that is cheap to find: height and
// width from the header of the file. Most pictures need no second step. The second step compares the SHA-256
// of type, shape and pixels, so that a picture equals its copy in another format.
//
// If the files or the pictures are too large for that, files are compared instead of pixels: first their
// size, then their content. The content is compared only if the files that have equal sizes are not too
// large.

// copyLimits are the limits of the search for equal pictures.
type copyLimits struct {
	comparedBytes  int64 // largest total size of files where pixels are compared
	comparedPixels int64 // largest total number of pixels of pictures that have equal sizes
	hashedBytes    int64 // largest total size of files where the content is compared
}

// usualLimits keep the time of the search to some seconds.
func usualLimits() copyLimits { return copyLimits{1 << 30, 1 << 28, 4 << 30} }

// reference identifies a picture: the number of the source, and of the sample in it.
type reference struct{ source, sample int }

// comparison is a search for equal pictures in several sources.
type comparison struct {
	sources []Source
	samples []reference // pictures that can be compared
	inFiles bool        // compare files, not pixels
}

// equalPictures returns the groups of equal pictures. In a group, pictures are in the order of sources and
// samples. It does not compare generated samples, arrays of numbers, samples of a Source from another
// package, and unreadable files. left is 0, or the number of bytes of files with equal sizes if these were
// too large to be compared.
func (l copyLimits) equalPictures(ctx context.Context, sources ...Source) (groups [][]reference, left int64,
	err error) {
	c := &comparison{sources: sources}
	for k, src := range sources {
		for i := range src.Info().Len {
			if p := (reference{k, i}); src.Info().Pictures() && c.isComparable(p) {
				c.samples = append(c.samples, p)
			}
		}
	}
	c.inFiles = c.fileBytes(c.samples) > l.comparedBytes
	candidates, err := c.candidates(ctx)
	if err == nil && !c.inFiles && c.pixels(ctx, candidates) > l.comparedPixels {
		c.inFiles = true
		candidates, err = c.candidates(ctx)
	}
	if size := c.fileBytes(candidates); err != nil || c.inFiles && size > l.hashedBytes {
		return nil, size, err
	}
	groups, err = groupsOf(ctx, candidates, c.content)
	return groups, 0, err
}

// candidates returns the pictures with a key that another picture has too.
func (c *comparison) candidates(ctx context.Context) (out []reference, err error) {
	groups, err := groupsOf(ctx, c.samples, c.key)
	for _, g := range groups {
		out = append(out, g...)
	}
	return out, err
}

// groupsOf returns the groups of samples with equal keys. Samples without a key are in no group.
func groupsOf[K comparable](ctx context.Context, samples []reference,
	key func(context.Context, reference) (K, error)) (groups [][]reference, err error) {
	keys, failed := make([]K, len(samples)), make([]bool, len(samples))
	err = eachSample(len(samples), func(i int) (err error) {
		keys[i], err = key(ctx, samples[i])
		failed[i] = err != nil
		return stream.ContextErr(ctx)
	})
	if err != nil {
		return nil, err
	}
	of := map[K]int{}
	for i, p := range samples {
		if failed[i] {
			continue
		}
		g, ok := of[keys[i]]
		if !ok {
			g, of[keys[i]] = len(groups), len(groups)
			groups = append(groups, nil)
		}
		groups[g] = append(groups[g], p)
	}
	return slices.DeleteFunc(groups, func(g []reference) bool { return len(g) < 2 }), nil
}

// origin returns the source that actually reads sample i of src, and the number of the sample in that source.
func origin(src Source, i int) (Source, int) {
	switch s := src.(type) {
	case *subset:
		return origin(s.Source, s.chosen[i])
	case *sharedSource:
		return origin(s.Source, i)
	case *relabelled:
		return origin(s.Source, i)
	case *joined:
		return origin(s.locate(i))
	case *masks:
		return s.pictures, i
	}
	return src, i
}

func (c *comparison) origin(p reference) (Source, int) { return origin(c.sources[p.source], p.sample) }

func (c *comparison) isComparable(p reference) bool {
	switch s, i := c.origin(p); s := s.(type) {
	case *pictures:
		return s.samples[i].read != nil // nil for a mask without a picture
	case *memory:
		return len(s.info.Shape) == 3
	}
	return false
}

// fileBytes returns the total size of the files of samples.
func (c *comparison) fileBytes(samples []reference) (total int64) {
	for _, p := range samples {
		if s, i := c.origin(p); isFile(s) {
			total += s.(*pictures).samples[i].size
		}
	}
	return total
}

func isFile(s Source) bool {
	_, ok := s.(*pictures)
	return ok
}

// pixels returns the total number of pixels in the picture files of samples.
func (c *comparison) pixels(ctx context.Context, samples []reference) int64 {
	var total atomic.Int64
	eachSample(len(samples), func(k int) error { // key has returned no error for these samples
		if s, _ := c.origin(samples[k]); isFile(s) {
			size, _ := c.key(ctx, samples[k])
			total.Add(size[0] * size[1])
		}
		return nil
	})
	return total.Load()
}

// key returns the height and width of a picture or, if files are compared, the size of its file.
func (c *comparison) key(ctx context.Context, p reference) (key [2]int64, err error) {
	var h, w int
	switch s, i := c.origin(p); s := s.(type) {
	case *pictures:
		if c.inFiles {
			return [2]int64{s.samples[i].size}, nil
		}
		h, w, err = s.measure(ctx, i)
	case *memory:
		h, w = s.info.Shape[0], s.info.Shape[1]
	}
	return [2]int64{int64(h), int64(w)}, err
}

// content returns a sum of the pixels of a picture or, if files are compared, of its file.
func (c *comparison) content(ctx context.Context, p reference) (sum [sha256.Size]byte, err error) {
	s, i := c.origin(p)
	if files, ok := s.(*pictures); ok && c.inFiles {
		file, err := files.samples[i].read()
		return sha256.Sum256(file), err
	}
	t, err := pictureAt(ctx, s, i)
	if err != nil {
		return sum, err
	}
	h := sha256.New()
	fmt.Fprintln(h, t.DType, t.Shape)
	h.Write(t.Bytes)
	return [sha256.Size]byte(h.Sum(nil)), nil
}

// pictureAt returns sample i of s. It does not add large pictures to the cache, because training does not use
// them decoded: it scales them while it decodes them.
func pictureAt(ctx context.Context, s Source, i int) (tensor.Tensor, error) {
	if p, ok := s.(*pictures); ok {
		if h, w, err := p.measure(ctx, i); err != nil || h*w > images.FreePixels {
			return p.decode(ctx, i)
		}
	}
	return s.Sample(ctx, i)
}
