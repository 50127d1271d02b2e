package data

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"

	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/tensor"
)

// Subset returns a source of n samples of src, drawn without replacement, in their
// order in src; it returns src itself if n is 0. The choice depends on seed, n and
// src.Info().Len alone. Closing the subset closes src.
func Subset(src Source, n int, seed uint64) (Source, error) {
	all := src.Info().Len
	if n == 0 || n == all {
		return src, nil
	}
	if n < 0 || n > all {
		return nil, fmt.Errorf("%s: %s of %d; want 1 to %d", src.Info().Kind, problem.Counted(n, "sample"), all,
			all)
	}
	d := tensor.NewPhilox(seed, tensor.StreamOrder).Draws(subsetEpoch, uint64(n))
	chosen := d.Perm(all)[:n]
	slices.Sort(chosen)
	return &subset{src, chosen}, nil
}

// subsetEpoch keeps the draws of subsets apart from the orders of epochs.
const subsetEpoch = 1<<32 - 1

// subset is some samples of a source.
type subset struct {
	Source
	chosen []int
}

func (s *subset) Info() Info {
	i := s.Source.Info()
	i.Len = len(s.chosen)
	return i
}

func (s *subset) Sample(ctx context.Context, i int) (tensor.Tensor, error) {
	return s.Source.Sample(ctx, s.chosen[i])
}
func (s *subset) Label(ctx context.Context, i int) ([]int32, error) {
	return s.Source.Label(ctx, s.chosen[i])
}

func (s *subset) Name(i int) string { return s.Source.Name(s.chosen[i]) }

// Fingerprint hashes that of the source and which samples were chosen.
func (s *subset) Fingerprint(ctx context.Context) (string, error) {
	whole, err := s.Source.Fingerprint(ctx)
	if err != nil {
		return "", err
	}
	h := sha256.New()
	fmt.Fprintln(h, "subset", whole, s.chosen)
	return hex.EncodeToString(h.Sum(nil)), nil
}
