package parallel

import (
	"slices"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/device/collective"
	"github.com/bnctl/bnctl/parallel/internal/record"
)

// pointsHub is a hub with points as its members. A point is a device, or all devices of
// another machine.
type pointsHub struct {
	hub    *collective.Hub
	points [][]int // ranks of the devices of each point
	shared bool    // other ranks of the run have replicas

	recorder *record.Recorder // records values; may be nil
}

// pointsOf returns the points of some members, in the order of their first ranks.
func pointsOf(ms members) (points [][]int) {
	known := map[string]int{}
	for rank, m := range ms {
		machine := device.LinkOf(m.Device).Machine
		at, ok := known[machine]
		switch {
		case machine == "" || !slices.Contains(m.Device.Info().Levels, device.OnMachine):
			points = append(points, []int{rank})
		case ok:
			points[at] = append(points[at], rank)
		default:
			known[machine], points = len(points), append(points, []int{rank})
		}
	}
	return points
}

// group returns the device.Group of the member with that rank; the caller adds its replicas. token
// distinguishes the run. If all replicas are on the devices of one machine, these devices exchange
// nothing with the host.
func (h *pointsHub) group(rank int, token []byte) device.Group {
	at := slices.IndexFunc(h.points, func(p []int) bool { return slices.Contains(p, rank) })
	g := device.Group{Level: device.Stream}
	if p := h.points[at]; len(p) > 1 {
		g.Level, g.Rendezvous, g.Machine = device.OnMachine, token, p
	}
	if h.points[at][0] == rank && !(len(h.points) == 1 && len(g.Machine) > 0 && !h.shared) {
		if g.Exchange = h.hub.Member(at); h.recorder != nil {
			g.Exchange = h.recorder.Record(g.Exchange)
		}
	}
	return g
}

// Missing returns the ranks that others wait for: see collective.Hub. A machine is missing as a whole.
func (h *pointsHub) Missing() []int {
	missing := h.hub.Missing()
	if missing == nil {
		return nil
	}
	ranks := []int{}
	for _, at := range missing {
		ranks = append(ranks, h.points[at]...)
	}
	return ranks
}

// Exchanges returns the number of completed exchanges.
func (h *pointsHub) Exchanges() int { return h.hub.Exchanges() }

// Abort ends the group: see collective.Hub.
func (h *pointsHub) Abort(cause error) { h.hub.Abort(cause) }
