package bnctl

import (
	"context"
	"fmt"

	"github.com/bnctl/bnctl/fleet"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/parallel"
	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/train"
)

// openDevices opens the devices and writes their kernel class, which determines the bits of all results, into
// the recipe. It is an error if this changes the class of a resumed run, unless AnyKernels is set.
func (r *Run) openDevices(ctx context.Context) (err error) {
	o := r.o.Fleet
	o.Precision, o.Most, o.Peers = r.recipe.Precision, r.replicas(), r.o.Peers
	if !r.o.Stages.One() {
		o.Most = 0 // the devices of one stage share the replicas
	}
	if r.fleet, err = fleet.Open(ctx, o); err != nil {
		return err
	}
	class, _ := parallel.KernelClass(r.fleet.Members)
	if r.from != nil && r.recipe.Kernels != class && !r.o.AnyKernels {
		return problem.New("", "", fmt.Sprintf("the checkpoint was trained with kernel class %s, these devices "+
			"have %s, whose bits differ", r.recipe.Kernels, class), "add {kernels} "+class+" to go on all the same")
	}
	if r.recipe.Kernels = class; r.recipe.Numbered() {
		r.recipe.SetClasses(r.fleet.Members)
	}
	r.notify(DevicesOpened{r.fleet})
	return r.err()
}

// start loads the model on the devices. The caller closes the session.
func (r *Run) start(ctx context.Context, m *models.Model) (*train.Session, error) {
	c, err := r.config()
	if err != nil {
		return nil, err
	}
	if r.from == nil {
		return train.New(ctx, r.recipe, m, c)
	}
	k := *r.from
	if r.o.AnyKernels { // the user permits another class, so it is no difference
		was := *r.previous
		was.Kernels, was.Classes = r.recipe.Kernels, r.recipe.Classes
		k.Recipe = was.JSON()
	}
	return train.Resume(ctx, &k, r.recipe, c)
}

// config returns how the recipe is run.
func (r *Run) config() (c train.Config, err error) {
	c = train.Config{Train: r.data, Validation: r.validation, Workers: r.o.Workers, Peers: r.o.Peers,
		Fleet: r.fleet, BySpeed: r.o.Placement == bySpeed, DeviceTimeout: r.o.DeviceTimeout, Audit: r.o.Audit,
		Recompute: r.o.Recompute, Stages: r.o.Stages, Checkpoint: r.checkpoint,
		CheckpointEvery: r.o.CheckpointEvery, Paths: r.paths, Settings: r.o.settings(), GoOn: r.resumeCommand(),
		Option: r.o.Start.Option, LogEvery: r.o.LogEvery, Norms: r.o.Norms,
		Chained: r.writeChain, Rebuild: r.rebuild}
	r.observe(&r.o, &c)
	c.Placement, err = placement(r.o.Placement, len(r.fleet.Members), r.replicas())
	return c, err
}
