package parallel

import (
	"fmt"

	"github.com/bnctl/bnctl/device"
)

// placement says which of this rank's replicas each member holds.
type placement struct {
	ranks  rankReplicas
	counts []int // Config.Placement: nil if it is free
	batch  int   // rows of a full one
	total  int   // replicas of all ranks
}

func newPlacement(c Config, ranks rankReplicas) placement {
	return placement{ranks, c.Placement, c.Batch, c.Replicas}
}

// check refuses a pinned placement that does not fit.
func (p *placement) check(ms members) error {
	if p.counts == nil {
		return nil
	}
	if len(p.counts) != len(ms) {
		return fmt.Errorf("placement %v is for %d devices, there are %d: %v",
			p.counts, len(p.counts), len(ms), ms.names())
	}
	_, err := PlaceCounts(p.ranks.count, p.counts)
	return err
}

// pins reports whether the placement of Config holds: all its devices take part.
func (p *placement) pins(ms members) bool { return p.counts != nil && len(p.counts) == len(ms) }

// assign gives every member its replicas.
func (p *placement) assign(ms members) error {
	ranges, err := p.ranges(ms)
	if err != nil {
		return err
	}
	for i, c := range p.capacities(ranges) {
		ms[i].replicas, ms[i].capacity = ranges[i], c
	}
	return nil
}

// ranges returns the replicas that members shall have: as Config says, or else
// as their speeds are.
func (p *placement) ranges(ms members) ([][]int, error) {
	if !p.pins(ms) {
		return p.bySpeed(ms.speeds(), ms.least())
	}
	ranges, err := PlaceCounts(p.ranks.count, p.counts)
	p.ranks.shift(ranges)
	return ranges, err
}

// bySpeed returns the replicas that devices of these speeds shall have: see place.
func (p *placement) bySpeed(speeds []float64, least []int) ([][]int, error) {
	ranges, err := place(p.ranks.count, len(least), speeds, least)
	p.ranks.shift(ranges)
	return ranges, err
}

// rows returns how many rows of a full batch each of the ranges has.
func (p *placement) rows(ranges [][]int) []int {
	full := Split(p.batch, p.total)
	rows := make([]int, len(ranges))
	for i, replicas := range ranges {
		for _, r := range replicas {
			rows[i] += full[r]
		}
	}
	return rows
}

// longestShare returns how long the slowest device takes for a full batch, in seconds.
func (p *placement) longestShare(ranges [][]int, paces []float64) float64 {
	longest := 0.0
	for i, rows := range p.rows(ranges) {
		longest = max(longest, float64(rows)/paces[i])
	}
	return longest
}

// capacities returns what the members must be able to run.
func (p *placement) capacities(ranges [][]int) []device.Capacity {
	// Predict shares rows evenly, whatever the replicas.
	total, shares := 0, p.rows(ranges)
	for _, rows := range shares {
		total += rows
	}
	share := (total + len(ranges) - 1) / len(ranges)
	var all []device.Capacity
	for i, rows := range shares {
		all = append(all, device.Capacity{Rows: max(rows, share), Replicas: max(len(ranges[i]), 1)})
	}
	return all
}
