package parallel

import (
	"fmt"

	"github.com/bnctl/bnctl/device"
)

// checkPlacement refuses a pinned placement that does not fit.
func (d *Driver) checkPlacement() error {
	p := d.config.Placement
	if p == nil {
		return nil
	}
	if len(p) != len(d.members) {
		return fmt.Errorf("placement %v is for %d devices, there are %d: %v",
			p, len(p), len(d.members), d.Devices())
	}
	_, err := PlaceCounts(d.config.Replicas, p)
	return err
}

// pinned reports whether the placement of Config holds: all its devices take part.
func (d *Driver) pinned() bool {
	return d.config.Placement != nil && len(d.config.Placement) == len(d.members)
}

// place gives every member its replicas.
func (d *Driver) place() error {
	var ranges [][]int
	var err error
	if d.pinned() {
		ranges, err = PlaceCounts(d.config.Replicas, d.config.Placement)
	} else {
		ranges, err = Place(d.config.Replicas, len(d.members), d.speeds())
	}
	if err != nil {
		return err
	}
	for i, c := range d.capacities(ranges) {
		d.members[i].replicas, d.members[i].capacity = ranges[i], c
	}
	return nil
}

// speeds returns the known speeds of the members, their mean for those that
// are not known; nil if none is.
func (d *Driver) speeds() []float64 {
	sum, known := 0.0, 0
	for _, m := range d.members {
		if m.pace.speed > 0 {
			sum, known = sum+m.pace.speed, known+1
		}
	}
	if known == 0 {
		return nil
	}
	var speeds []float64
	for _, m := range d.members {
		v := m.pace.speed
		if v == 0 {
			v = sum / float64(known)
		}
		speeds = append(speeds, v)
	}
	return speeds
}

// placement returns the replicas of every member.
func (d *Driver) placement() [][]int {
	var ranges [][]int
	for _, m := range d.members {
		ranges = append(ranges, m.replicas)
	}
	return ranges
}

// Placement returns how many replicas each present member has, by rank.
func (d *Driver) Placement() []int {
	var counts []int
	for _, m := range d.members {
		counts = append(counts, len(m.replicas))
	}
	return counts
}

// rows returns how many rows of a full batch each of the ranges has.
func (d *Driver) rows(ranges [][]int) []int {
	full := Split(d.config.Batch, d.config.Replicas)
	rows := make([]int, len(ranges))
	for i, replicas := range ranges {
		for _, r := range replicas {
			rows[i] += full[r]
		}
	}
	return rows
}

// capacities returns what the members must be able to run.
func (d *Driver) capacities(ranges [][]int) []device.Capacity {
	// Predict shares rows evenly, whatever the replicas.
	share := (d.config.Batch + len(ranges) - 1) / len(ranges)
	var all []device.Capacity
	for i, rows := range d.rows(ranges) {
		all = append(all, device.Capacity{Rows: max(rows, share), Replicas: max(len(ranges[i]), 1)})
	}
	return all
}
