package data

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"sync"

	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/tensor"
)

// Subset returns a source of n samples of src, which are drawn without replacement. They are in the same
// order as in src. If n is 0 it returns src itself. The choice depends only on seed, n and src.Info().Len.
// Closing the subset closes src.
func Subset(src Source, n int, seed uint64) (Source, error) {
	all := src.Info().Len
	if n == 0 || n == all {
		return src, nil
	}
	if n < 0 || n > all {
		return nil, fmt.Errorf("%s: %s of %d; want 1 to %d", src.Info().Kind, problem.Plural(n, "sample"), all,
			all)
	}
	d := tensor.NewPhilox(seed, tensor.StreamOrder).Draws(subsetEpoch, uint64(n))
	chosen := d.Perm(all)[:n]
	slices.Sort(chosen)
	shared := &sharedSource{Source: src, closed: 1}
	return &subset{Source: src, chosen: chosen, split: src.Info().Split, shared: shared}, nil
}

// partition divides src into two sources: the samples that are set apart, and the others. When both are
// closed, src is closed.
func (h *HeldOut) partition(src Source, apart []bool) {
	h.source = &sharedSource{Source: src}
	training := &subset{Source: src, split: Train, shared: h.source}
	validation := &subset{Source: src, split: Val, shared: h.source}
	for i, out := range apart {
		if out {
			validation.chosen = append(validation.chosen, i)
		} else {
			training.chosen = append(training.chosen, i)
		}
	}
	h.Training, h.Validation = training, validation
}

// subsetEpoch is the number of an epoch that no run reaches. It makes the draws of subsets different from the
// orders of epochs.
const subsetEpoch = 1<<32 - 1

// subset is a source of some samples of another source.
type subset struct {
	Source
	chosen []int
	split  Split
	shared *sharedSource // the other source, which several subsets may share
}

// IsHeldOut reports whether a source is one of the two parts of another source, as OpenHeldOut returns them.
func IsHeldOut(src Source) bool {
	_, ok := src.(*subset)
	return ok
}

// PartOf returns the whole source that src is a part of, and the numbers of the part's samples in it. ok is
// false if src does not come from OpenHeldOut.
func PartOf(src Source) (whole Source, indices []int, ok bool) {
	s, ok := src.(*subset)
	if !ok {
		return nil, nil, false
	}
	return s.Source, s.chosen, true
}

// sharedSource is a source that several subsets share.
type sharedSource struct {
	Source
	closed      int // number of subsets that have closed it
	mu          sync.Mutex
	fingerprint string // "" until it has been computed
}

func (s *subset) Info() Info {
	i := s.Source.Info()
	i.Len, i.Split = len(s.chosen), s.split
	return i
}

func (s *subset) measure(ctx context.Context, i int) (h, w int, err error) {
	return sizeIn(ctx, s.Source, s.chosen[i])
}

func (s *subset) Sample(ctx context.Context, i int) (tensor.Tensor, error) {
	return s.Source.Sample(ctx, s.chosen[i])
}
func (s *subset) Label(ctx context.Context, i int) ([]int32, error) {
	return s.Source.Label(ctx, s.chosen[i])
}

// Close implements Source.
func (s *subset) Close() error { return s.shared.Close() }

// Close closes the source when it has been called for the last of the subsets.
func (s *sharedSource) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed++; s.closed < 2 {
		return nil
	}
	return s.Source.Close()
}

// Fingerprint returns the fingerprint of the source. It reads the samples only in its first call.
func (s *sharedSource) Fingerprint(ctx context.Context) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fingerprint != "" {
		return s.fingerprint, nil
	}
	var err error
	s.fingerprint, err = s.Source.Fingerprint(ctx)
	return s.fingerprint, err
}

func (s *subset) Name(i int) string { return s.Source.Name(s.chosen[i]) }

// Fingerprint returns a hash of the fingerprint of the source and the numbers of the chosen samples.
func (s *subset) Fingerprint(ctx context.Context) (string, error) {
	whole, err := s.shared.Fingerprint(ctx)
	if err != nil {
		return "", err
	}
	h := sha256.New()
	fmt.Fprintln(h, "subset", whole, s.chosen)
	return hex.EncodeToString(h.Sum(nil)), nil
}
