package job

import (
	"context"
	"fmt"

	"github.com/bnctl/bnctl/fleet"
	"github.com/bnctl/bnctl/parallel"
	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/train"
)

// sharedClass returns the kernel class of the devices of all ranks: the best that
// all of them have. Those that have a better one are opened again.
func (j *Job) sharedClass(ctx context.Context, o fleet.Options) (string, error) {
	mine, _ := train.KernelClass(j.Fleet.Members)
	if j.o.Peers == nil {
		return mine, nil
	}
	records, err := j.o.Peers.Gather(ctx, []byte(mine))
	if err != nil {
		return "", err
	}
	worst := mine
	for rank, r := range records {
		lesser, ok := fleet.LesserClass(worst, string(r))
		if !ok {
			return "", &parallel.RankError{Rank: rank, Text: fmt.Sprintf("its devices have kernel class %s, those of "+
				"rank %d %s; use devices of one kind on all ranks", r, j.o.Peers.Rank(), mine)}
		}
		worst = lesser
	}
	if worst == mine {
		return mine, nil
	}
	if o.Kernels != "" && o.Kernels != "auto" {
		return "", problem.New("kernels", o.Kernels, "another rank has devices of class "+worst,
			"use {kernels} "+worst+" on all ranks, or auto")
	}
	if o.Note != nil {
		o.Note("kernels %s, as some rank has no %s", worst, mine)
	}
	o.Kernels = worst
	if err := j.Fleet.Close(); err != nil {
		return "", err
	}
	if j.Fleet, err = fleet.Open(ctx, o); err != nil {
		return "", err
	}
	class, _ := train.KernelClass(j.Fleet.Members)
	return class, nil
}
