package parallel

import (
	"fmt"

	"github.com/bnctl/bnctl/device"
)

// checkPlacement refuses a pinned placement that does not fit.
func (g *Group) checkPlacement() error {
	p := g.config.Placement
	if p == nil {
		return nil
	}
	if len(p) != len(g.members) {
		return fmt.Errorf("placement %v is for %d devices, there are %d: %v",
			p, len(p), len(g.members), g.Devices())
	}
	_, err := PlaceCounts(g.replicas, p)
	return err
}

// pinned reports whether the placement of Config holds: all its devices take part.
func (g *Group) pinned() bool {
	return g.config.Placement != nil && len(g.config.Placement) == len(g.members)
}

// place gives every member its replicas.
func (g *Group) place() error {
	var ranges [][]int
	var err error
	if g.pinned() {
		ranges, err = PlaceCounts(g.replicas, g.config.Placement)
	} else {
		ranges, err = place(g.replicas, len(g.members), g.speeds(), nil)
	}
	if err != nil {
		return err
	}
	g.shift(ranges)
	for i, c := range g.capacities(ranges) {
		g.members[i].replicas, g.members[i].capacity = ranges[i], c
	}
	return nil
}

// speeds returns the known speeds of the members, their mean for those that
// are not known; nil if none is.
func (g *Group) speeds() []float64 {
	sum, known := 0.0, 0
	for _, m := range g.members {
		if m.pace.speed > 0 {
			sum, known = sum+m.pace.speed, known+1
		}
	}
	if known == 0 {
		return nil
	}
	var speeds []float64
	for _, m := range g.members {
		v := m.pace.speed
		if v == 0 {
			v = sum / float64(known)
		}
		speeds = append(speeds, v)
	}
	return speeds
}

// placement returns the replicas of every member.
func (g *Group) placement() [][]int {
	var ranges [][]int
	for _, m := range g.members {
		ranges = append(ranges, m.replicas)
	}
	return ranges
}

// Placement returns how many replicas each present member has, by rank.
func (g *Group) Placement() []int {
	var counts []int
	for _, m := range g.members {
		counts = append(counts, len(m.replicas))
	}
	return counts
}

// rows returns how many rows of a full batch each of the ranges has.
func (g *Group) rows(ranges [][]int) []int {
	full := Split(g.config.Batch, g.config.Replicas)
	rows := make([]int, len(ranges))
	for i, replicas := range ranges {
		for _, r := range replicas {
			rows[i] += full[r]
		}
	}
	return rows
}

// capacities returns what the members must be able to run.
func (g *Group) capacities(ranges [][]int) []device.Capacity {
	// Predict shares rows evenly, whatever the replicas.
	total, shares := 0, g.rows(ranges)
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
