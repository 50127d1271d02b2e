// Package schedule is the planner: it decides how work is cut, from what the machine is.
//
// A schedule never says what is computed: chains, trees and algorithms are the
// kernel class's, and every schedule gives the same bits. So a description that is
// wrong costs time and nothing else.
package schedule

import (
	"fmt"

	"github.com/bnctl/bnctl/plugins/cpu/internal/machine"
)

// Schedule says how work is cut. Sizes are bytes unless they say otherwise.
type Schedule struct {
	Weights int // of a layer, up to which they are read again for every row
	Rows    int // rows that are computed for each time that heavier weights are read, at most
	Span    int // of results that pass through a chain together
	Step    int // that a step of a course computes
	Far     int // of an image from which on it is better not written and read again as a whole
	Course  int // that a course may hold at a time, with what it reads

	LightTiles, HeavyTiles int // Winograd tiles that are treated together, by their weights
	FewTiles               int // tiles of an image that are so few that workers share its panels
	SmallSums              int // Winograd gradients of up to so much are read again for every few tiles
	SomeTiles, ManyTiles   int // of transformed tiles that are treated together, by these sums
	Gradient               int // positions that all taps of a gradient treat before the next
	Pairs                  int // bfloat16 values that are interleaved before they are multiplied
}

// tuned is the L2 that the numbers below were found with.
const tuned = 1 << 20

// For returns the schedule for a machine. What rows pass through is a share of what
// is near a core. The other numbers are of registers and of work, not of caches.
func For(d machine.Description) Schedule {
	share := func(parts int) int { return near(d) / 16 * parts }
	return Schedule{Weights: share(8), Rows: 8, Span: share(3), Step: share(5), Far: share(4),
		Course: share(16), LightTiles: 40, HeavyTiles: 48, FewTiles: 8, SmallSums: 4 << 20, SomeTiles: 2 << 20,
		ManyTiles: 16 << 20, Gradient: 256, Pairs: 64 << 10}
}

// near returns the bytes that are near a core: of L2, or, where that is small, a
// quarter of the core's share of L3. With 512 KiB of L2 and 16 MiB of L3 for a core
// the numbers for 1 MiB are no slower than those for half; with more than 1 MiB
// of L2 nobody has measured larger ones.
func near(d machine.Description) int {
	const least = tuned / 8
	return max(min(max(d.L2.Share(), d.L3.Share()/4), tuned), least)
}

// Lines returns the schedule as sentences for a person.
func (s Schedule) Lines() []string {
	return []string{
		fmt.Sprintf("weights up to %s are read for every row, heavier ones for up to %d rows", size(s.Weights),
			s.Rows),
		fmt.Sprintf("%s of results pass through a chain together, %s through a step of a course of up to %s",
			size(s.Span), size(s.Step), size(s.Course)),
		fmt.Sprintf("Winograd tiles go by %d, by %d with heavy weights", s.LightTiles, s.HeavyTiles),
	}
}

// size returns a number of bytes in KiB.
func size(bytes int) string { return fmt.Sprintf("%.4g KiB", float64(bytes)/1024) }
