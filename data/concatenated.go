package data

import (
	"context"
	"errors"
	"slices"
	"sort"

	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/tensor"
)

// concatenated is a source of the samples of several sources, one source after the other, without labels.
type concatenated struct {
	info    Info
	sources []Source
	ends    []int // number of samples up to the end of each source
}

// add appends src as the next source. j then owns src, and closes it. Pictures may have other sizes than
// the ones of the earlier sources; everything else must be equal.
func (j *concatenated) add(src Source) error {
	i := src.Info()
	j.sources = append(j.sources, src)
	j.ends = append(j.ends, j.info.Len+i.Len)
	if len(j.sources) == 1 {
		j.info = Info{Kind: "inputs", Len: i.Len, DType: i.DType, Shape: i.Shape, EXIF: i.EXIF, formats: i.formats}
		return nil
	}
	j.info.Len += i.Len
	j.info.EXIF, j.info.formats = j.info.EXIF || i.EXIF, append(j.info.formats, i.formats...)
	if i.DType == j.info.DType && slices.Equal(i.Shape, j.info.Shape) {
		return nil
	}
	if !i.Pictures() || !j.info.Pictures() || channels(i) != channels(j.info) {
		return problem.Advise("predict them one by one", "%s: the samples are %s, those before it %s",
			src.Name(0), kindOfSamples(i), kindOfSamples(j.info))
	}
	j.info.Shape = nil
	return nil
}

func channels(i Info) int {
	if i.Shape == nil {
		return 3
	}
	return i.Shape[len(i.Shape)-1]
}

func kindOfSamples(i Info) string {
	if i.Shape == nil {
		return "RGB pictures"
	}
	return tensor.Describe(i.DType, i.Shape)
}

// locate returns the source of sample i and the sample's number there.
func (j *concatenated) locate(i int) (Source, int) {
	index := sort.SearchInts(j.ends, i+1)
	if index > 0 {
		i -= j.ends[index-1]
	}
	return j.sources[index], i
}

// Info implements Source.
func (j *concatenated) Info() Info { return j.info }

// Sample implements Source.
func (j *concatenated) Sample(ctx context.Context, i int) (tensor.Tensor, error) {
	src, i := j.locate(i)
	return src.Sample(ctx, i)
}

// Label implements Source.
func (j *concatenated) Label(context.Context, int) ([]int32, error) { return nil, nil }

// Name implements Source.
func (j *concatenated) Name(i int) string {
	src, i := j.locate(i)
	return src.Name(i)
}

// Fingerprint implements Source.
func (j *concatenated) Fingerprint(ctx context.Context) (string, error) {
	h := newFingerprint(j.info)
	for _, src := range j.sources {
		f, err := src.Fingerprint(ctx)
		if err != nil {
			return "", err
		}
		h.text(f)
	}
	return h.sum(), nil
}

// Close implements Source.
func (j *concatenated) Close() error {
	var errs []error
	for _, src := range j.sources {
		errs = append(errs, src.Close())
	}
	return errors.Join(errs...)
}
