// Package schedule is the planner: it decides how to divide work, based on the machine.
//
// A schedule never changes results: chains, trees and algorithms depend on the kernel
// class, and every schedule has the same bits. A wrong description of the machine only
// costs time.
package schedule

import (
	"fmt"

	"github.com/bnctl/bnctl/plugins/cpu/internal/machine"
)

// Schedule determines how work is divided. Sizes are in bytes unless noted otherwise.
type Schedule struct {
	Weights int // maximum size of the weights of a layer that are read again for every row
	Rows    int // maximum number of rows that are computed each time heavier weights are read
	Span    int // size of the results that pass through a chain together
	Step    int // bytes of results that a step of a tiling computes
	Far     int // minimum size of an image that should not pass through memory as a whole
	Tiling  int // maximum number of bytes in use by a tiling at a time, including its weights

	LightTiles, HeavyTiles int // Winograd tiles that are processed together, with light and with heavy weights
	Tiles                  int // bytes of transformed tiles and products, which limit the number of light tiles
	FewTiles               int // workers share the panels of an image with this number of tiles or fewer
	SmallSums              int // largest sums of a Winograd gradient that are read again for every few tiles
	SomeTiles, ManyTiles   int // bytes of transformed tiles processed together, for small and large sums
	Gradient               int // positions that all taps of a gradient process before the next positions
	Pairs                  int // number of bfloat16 values that are interleaved before they are multiplied

	Piece      int // minimum time of a piece of a row, in nanoseconds
	SmallPiece int // the same if there are more pieces than workers
	Range      int // minimum number of elements in a range of a tensor
}

// tuned is the size of the L2 cache of the machine that the numbers below were measured on.
const tuned = 1 << 20

// For returns the schedule for a machine with these rates. Sizes of data that rows pass
// through are a share of the memory near a core. The other numbers depend on registers and
// on work, not on caches.
func For(d machine.Description, r machine.Rates) Schedule {
	sixteenths := func(n int) int { return near(d, r) / 16 * n }
	return Schedule{Weights: sixteenths(8), Rows: rows(r), Span: sixteenths(3), Step: sixteenths(5),
		Far: sixteenths(8), Tiling: sixteenths(16), LightTiles: 40, HeavyTiles: 48, Tiles: sixteenths(4),
		FewTiles: 8, SmallSums: 4 << 20,
		SomeTiles: 2 << 20, ManyTiles: 16 << 20, Gradient: 256, Pairs: 64 << 10,
		Piece: 1000, SmallPiece: 50000, Range: 4096}
}

// near returns the number of bytes of memory near a core. This is L2, or, if that is small, a quarter of
// the core's share of a fast L3. On a machine with 512 KiB of L2 and 16 MiB of L3 for each core, the
// schedule for 1 MiB is at least as fast as the one for 512 KiB. Schedules for more than 1 MiB of L2 have
// not been measured.
func near(d machine.Description, r machine.Rates) int {
	const least = tuned / 8
	bytes := d.L2.PerCore()
	if quick(r) {
		bytes = max(bytes, d.L3.PerCore()/4)
	}
	return max(min(bytes, tuned), least)
}

// quick reports whether L3 delivers the rows of a product as fast as a core needs them. Tiles of 16
// channels do 8 operations for every byte of a row that they read.
func quick(r machine.Rates) bool { return r.L3 >= r.Flops/8 }

// rows returns the number of rows that are computed each time heavy weights are read. Reading them from
// memory then needs at most a sixteenth of the time of computing with them, even for images of 7 by 7, the
// smallest with heavy weights. The result is at least 8, because no smaller number was measured to be
// better.
func rows(r machine.Rates) int {
	const panel, positions, least, most = 16, 7 * 7, 8, 32
	reads := panel * r.Flops / (2.0 / 4 * positions) // bytes per second, for one row at a time
	if !(reads > least*r.Memory) {
		return least
	}
	return int(min(most, reads/r.Memory))
}

// Lines returns the schedule as sentences for a person.
func (s Schedule) Lines() []string {
	return []string{
		fmt.Sprintf("weights up to %s are read for every row, heavier ones for up to %d rows", size(s.Weights),
			s.Rows),
		fmt.Sprintf("%s of results pass through a chain together, %s through a step of a tiled chain of up to %s",
			size(s.Span), size(s.Step), size(s.Tiling)),
		fmt.Sprintf("Winograd tiles go by %d, or as many as %s hold, by %d with heavy weights", s.LightTiles,
			size(s.Tiles), s.HeavyTiles),
	}
}

// size returns a number of bytes in KiB.
func size(bytes int) string { return fmt.Sprintf("%.4g KiB", float64(bytes)/1024) }
