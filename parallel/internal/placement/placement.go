package placement

import (
	"fmt"

	"github.com/bnctl/bnctl/device"
)

// Placement decides which of this rank's replicas each device holds. The arguments of its methods
// describe the devices by their number, their speeds and the minimum number of replicas of each.
type Placement struct {
	ranks  Ranks
	counts []int // set by the user; nil: free
	batch  int   // rows of a full batch
	total  int   // replicas of all ranks
}

// New returns a placement of replicas on the devices of a rank. counts is the number of
// replicas of each device while all devices participate; nil means in proportion to their
// speeds.
func New(ranks Ranks, counts []int, batch, replicas int) Placement {
	return Placement{ranks, counts, batch, replicas}
}

// Ranks returns the division of the replicas among the ranks.
func (p *Placement) Ranks() Ranks { return p.ranks }

// Check returns an error if the counts do not fit the devices with these names.
func (p *Placement) Check(names []string) error {
	if p.counts == nil {
		return nil
	}
	if len(p.counts) != len(names) {
		return fmt.Errorf("placement %v is for %d devices, there are %d: %v",
			p.counts, len(p.counts), len(names), names)
	}
	_, err := ByCounts(p.ranks.count, p.counts)
	return err
}

// Pins reports whether the counts apply to this number of devices: all participate.
func (p *Placement) Pins(devices int) bool { return p.counts != nil && len(p.counts) == devices }

// Ranges returns the replicas of each device: by the counts if they apply, otherwise by
// speed.
func (p *Placement) Ranges(speeds []float64, minimum []int) ([][]int, error) {
	if !p.Pins(len(minimum)) {
		return p.BySpeed(speeds, minimum)
	}
	ranges, err := ByCounts(p.ranks.count, p.counts)
	p.ranks.shift(ranges)
	return ranges, err
}

// BySpeed returns the replicas for devices of these speeds: see the function BySpeed.
func (p *Placement) BySpeed(speeds []float64, minimum []int) ([][]int, error) {
	ranges, err := BySpeed(p.ranks.count, len(minimum), speeds, minimum)
	p.ranks.shift(ranges)
	return ranges, err
}

// rows returns the number of rows of a full batch in each of the ranges.
func (p *Placement) rows(ranges [][]int) []int {
	full := Split(p.batch, p.total)
	rows := make([]int, len(ranges))
	for i, replicas := range ranges {
		for _, r := range replicas {
			rows[i] += full[r]
		}
	}
	return rows
}

// LongestShare returns the seconds that the slowest device needs for a full batch; speeds
// are rows per second.
func (p *Placement) LongestShare(ranges [][]int, speeds []float64) float64 {
	longest := 0.0
	for i, rows := range p.rows(ranges) {
		longest = max(longest, float64(rows)/speeds[i])
	}
	return longest
}

// Capacities returns the capacity that each device needs.
func (p *Placement) Capacities(ranges [][]int) []device.Capacity {
	// Predict shares rows evenly, regardless of the replicas.
	total, perDevice := 0, p.rows(ranges)
	for _, rows := range perDevice {
		total += rows
	}
	perRange := (total + len(ranges) - 1) / len(ranges)
	var all []device.Capacity
	for i, rows := range perDevice {
		all = append(all, device.Capacity{Rows: max(rows, perRange), Replicas: max(len(ranges[i]), 1)})
	}
	return all
}

// OfReplica returns the capacity that a device needs to run one replica after the other.
func (p *Placement) OfReplica() device.Capacity {
	return device.Capacity{Rows: max((p.batch+p.total-1)/p.total, 1), Replicas: 1}
}
