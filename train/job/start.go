package job

import (
	"context"
	"fmt"
	"os"

	"github.com/bnctl/bnctl/fleet"
	"github.com/bnctl/bnctl/internal/regular"
	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/train"
)

// Claim checks the recipe of a new run, makes sure that the output files have the right
// endings and can be written, and locks them against other processes. read is the file from which
// the checkpoint of a resumed job was read, else "".
func (j *Job) Claim(read string) (err error) {
	if j.was == nil {
		if err := j.Recipe.Check(); err != nil {
			return err
		}
		for _, idle := range j.Recipe.Idle() {
			if j.o.Hear.Idle != nil {
				j.o.Hear.Idle(idle)
			}
		}
	}
	if j.follows() {
		return nil
	}
	if err := endings(j.Paths.Output, j.Checkpoint); err != nil {
		return err
	}
	for _, path := range []string{j.Paths.Output, j.Checkpoint} {
		if err := regular.NotInput(path, j.o.Model, j.o.Start.Init); err != nil {
			return err
		}
	}
	if j.release, err = regular.LockAll(j.Paths.Output, j.Checkpoint); err != nil {
		j.release = func() {}
		return err
	}
	if j.o.Overwrite || j.was != nil && sameFile(j.Checkpoint, read) {
		return nil
	}
	return train.Replaceable(j.Checkpoint, j.Recipe)
}

func sameFile(a, b string) bool {
	one, err1 := os.Stat(a)
	other, err2 := os.Stat(b)
	return err1 == nil && err2 == nil && os.SameFile(one, other)
}

// OpenDevices opens the devices and sets the kernel class of the recipe. It is
// an error if a resumed job would change the class, unless Options.AnyKernels
// is set.
func (j *Job) OpenDevices(ctx context.Context) (err error) {
	o := j.o.Fleet
	o.Precision, o.Most, o.Peers = j.Recipe.Precision, j.replicas(), j.o.Peers
	if j.Fleet, err = fleet.Open(ctx, o); err != nil {
		return err
	}
	class, _ := train.KernelClass(j.Fleet.Members)
	if j.was != nil && j.Recipe.Kernels != class && !j.o.AnyKernels {
		return problem.New("", "", fmt.Sprintf("the checkpoint was trained with kernel class %s, these devices "+
			"have %s, whose bits differ", j.Recipe.Kernels, class), "add {kernels} "+class+" to go on all the same")
	}
	j.Recipe.Kernels = class
	return nil
}

// Start loads the model on the devices, which must be open, and returns the
// session. The caller closes it.
func (j *Job) Start(ctx context.Context) (*train.Session, error) {
	c := j.Config
	c.Train, c.Validation, c.Fleet, c.Paths, c.Checkpoint = j.Data, j.Validation, j.Fleet, j.Paths, j.Checkpoint
	c.BySpeed = j.o.Placement == bySpeed
	c.Peers = j.o.Peers
	var err error
	if c.Placement, err = placement(j.o.Placement, len(j.Fleet.Members), j.replicas()); err != nil {
		return nil, err
	}
	if j.was == nil {
		return train.New(ctx, j.Recipe, j.Model, c)
	}
	k := *j.o.Resume
	if j.o.AnyKernels { // the change is asked for: no difference
		was := *j.was
		was.Kernels = j.Recipe.Kernels
		k.Recipe = was.JSON()
	}
	return train.Resume(ctx, &k, j.Recipe, c)
}
