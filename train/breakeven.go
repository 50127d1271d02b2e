package train

import (
	"fmt"
	"math"

	"github.com/bnctl/bnctl/parallel"
)

// Another machine pays if steps are shorter with it than without it. Let v be the rows per second of
// its devices, and w those of the other devices. A step of n rows needs n/w seconds without the
// machine, and with it
//
//	n/(v+w) + (fixed + perRow*n*v/(v+w))/rate + waits*roundTrip
//
// if rows are divided by speed and nothing overlaps. fixed is the bytes of sums, which do not depend on n.
// Messages that overlap with computing make the machine pay earlier.

// never is a BreakEven that is not reached.
const never = -1

// BreakEven has the batch and the rate of the link from which another machine shortens the steps. It is
// computed from the measured speeds and the messages of the present placement. A figure of -1 is never
// reached.
type BreakEven struct {
	Rows int     `json:"rows"`        // minimum rows of a batch, at the measured rate of the link
	Rate float64 `json:"bytes_per_s"` // minimum rate of the link, at the present batch
}

// breakEven returns the figures of a machine. v is the rows per second of its devices, w the rows per second
// of all other devices, and batch the rows of a step.
func breakEven(t *parallel.MachineTraffic, v, w float64, batch int) *BreakEven {
	if v <= 0 || w <= 0 || t.Rows == 0 || t.Link.Rate <= 0 {
		return nil
	}
	fraction := v / (v + w)
	gain := 1/w - 1/(v+w) // seconds that the machine saves per row, without messages
	perRow := fraction * float64(t.RowBytes) / float64(t.Rows)
	fixed := float64(t.Traffic.Out + t.Traffic.In - t.RowBytes)
	waits := float64(float64(t.Traffic.Waits) * t.Link.RoundTrip.Seconds())
	b := &BreakEven{Rows: never, Rate: never}
	if net := gain - float64(perRow/t.Link.Rate); net > 0 {
		b.Rows = int(math.Ceil((float64(fixed/t.Link.Rate) + waits) / net))
	}
	if net := float64(float64(batch)*gain) - waits; net > 0 {
		b.Rate = (fixed + float64(perRow*float64(batch))) / net
	}
	return b
}

// String describes the figures: "pays from a batch of 12, and at this batch from 34.5 Mbit/s".
func (b *BreakEven) String() string {
	rows, rate := "pays at no batch", "at this batch at no rate"
	if b.Rows != never {
		rows = fmt.Sprintf("pays from a batch of %d", b.Rows)
	}
	if b.Rate != never {
		rate = fmt.Sprintf("at this batch from %.1f Mbit/s", b.Rate*8/1e6)
	}
	return rows + ", and " + rate
}

// measuredSteps is the number of steps after which the break-even of machines is reported
// for the first time.
const measuredSteps = 3

// reportMachines reports once how other machines spent the time.
func (s *Session) reportMachines(m *meter) {
	if s.measured++; s.measured != measuredSteps {
		return
	}
	group := s.trainer.driver.Group()
	times := group.Times()
	if machines := m.machineShares(times); len(machines) > 0 {
		m.addBreakEven(machines, times, group, s.plan.recipe.StepBatch())
		s.plan.emit(Machines{Measured: machines})
	}
}

// addBreakEven sets the break-even of each machine by the times of the devices now.
func (m *meter) addBreakEven(machines []MachineShare, now []parallel.DeviceTime, g *parallel.Group,
	batch int) {
	all, of := 0.0, map[string]float64{} // rows per second of all devices, and of each machine
	for _, d := range now {
		s := spent(d.Device, m.devices, now)
		if busy := s.Took - s.Blocked; busy > 0 {
			speed := float64(s.Rows) / busy.Seconds()
			all += speed
			of[d.Link.Machine] += speed
		}
	}
	for _, t := range g.Traffic() {
		for i := range machines {
			if v := of[t.Link.Machine]; machines[i].Machine == t.Link.Machine {
				machines[i].BreakEven = breakEven(t, v, all-v, batch)
			}
		}
	}
}
