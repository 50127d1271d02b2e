package serve

import (
	"context"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/device/collective"
	"github.com/bnctl/bnctl/device/internal/wire"
	"github.com/bnctl/bnctl/graph"
)

// scheduled is an Exchanger that refuses exchanges that are not due in the run. If devices
// exchange values without the host, only this check finds the faulty device.
type scheduled struct {
	collective.Exchanger
	progress wire.Progress // progress of the present run
	replicas []int         // replicas of the device in the present group
}

// Start begins the exchange if it is due.
func (x *scheduled) Start(ctx context.Context, tag collective.Tag,
	values []collective.Reduction) func() error {
	if err := x.progress.Next(tag, values); err != nil {
		err = device.Errorf("", "", device.Lost, "%w", err)
		return func() error { return err }
	}
	return x.Exchanger.Start(ctx, tag, values)
}

// schedules returns the exchanges of the functions of p, by function name.
func schedules(p *graph.Program) map[string]*wire.Schedule {
	all := map[string]*wire.Schedule{}
	for _, f := range p.Functions {
		all[f.Name] = wire.ScheduleOf(f)
	}
	return all
}
