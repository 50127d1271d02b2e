package fleet

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/bnctl/bnctl/parallel"
	"github.com/bnctl/bnctl/problem"
)

// openAlike opens the devices of a rank with the best kernel class that the devices of all ranks
// support. If the devices were opened with a better class, it opens them again.
func openAlike(ctx context.Context, o Options) (*Fleet, error) {
	f, err := openAlone(ctx, o)
	if err != nil {
		return nil, err
	}
	mine := f.class()
	lesser, err := o.lesserOfAll(ctx, mine)
	if err == nil && lesser == mine {
		return f, nil
	}
	if e := f.Close(); err == nil {
		err = e
	}
	if err != nil {
		return nil, err
	}
	if o.Note != nil {
		o.Note("kernels %s: some rank has no %s", lesser, mine)
	}
	o.Kernels = lesser
	return openAlone(ctx, o)
}

// lesserOfAll returns the kernel class that the devices of all ranks support.
func (o *Options) lesserOfAll(ctx context.Context, mine string) (string, error) {
	records, err := o.Peers.AllGather(ctx, []byte(mine))
	if err != nil {
		return "", err
	}
	lesser, ok := mine, true
	for rank, theirs := range records {
		if lesser, ok = lesserClass(lesser, string(theirs)); !ok {
			return "", &parallel.RankError{Rank: rank, Advice: parallel.OneKind,
				Text: fmt.Sprintf("its devices have kernel class %s, those of rank %d %s", theirs, o.Peers.Rank(), mine)}
		}
	}
	if lesser != mine && o.Kernels != "" && o.Kernels != "auto" {
		return "", problem.New("kernels", o.Kernels, "another rank has devices of class "+lesser,
			"use {kernels} "+lesser+" on all ranks, or auto")
	}
	return lesser, nil
}

// class returns the kernel class of the devices, "fma+ref" if they have several.
func (f *Fleet) class() string {
	var all []string
	for _, m := range f.Members {
		all = append(all, m.Device.Info().Kernels)
	}
	slices.Sort(all)
	return strings.Join(slices.Compact(all), "+")
}
