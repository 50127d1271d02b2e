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
	Weights int // largest size, per layer, of weights that are read again for every row
	Rows    int // rows that are computed for each time that heavier weights are read, at most
	Span    int // bytes of results that pass through a chain together
	Step    int // bytes that a step of a tiling computes
	Far     int // least size of an image that should not pass through memory as a whole
	Tiling  int // bytes that a tiling may hold at a time, including its weights

	LightTiles, HeavyTiles int // Winograd tiles that are processed together, by their weights
	Tiles                  int // bytes of transformed tiles and products; the limit of light tiles
	FewTiles               int // largest number of tiles of an image for which workers share its panels
	SmallSums              int // largest sums of a Winograd gradient that are read again for every few tiles
	SomeTiles, ManyTiles   int // bytes of transformed tiles processed together, by the size of these sums
	Gradient               int // positions that all taps of a gradient process before the next
	Pairs                  int // bfloat16 values that are interleaved before they are multiplied

	Piece      int // nanoseconds of a piece of a row, at least
	SmallPiece int // least nanoseconds of a piece if there are more pieces than workers
	Range      int // elements of a range of a tensor, at least
}

// tuned is the L2 that the numbers below were found with.
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

// near returns the number of bytes near a core: L2, or, if that is small, a quarter of the
// core's share of a fast L3. With 512 KiB of L2 and 16 MiB of L3 for a core the numbers for
// 1 MiB are no slower than the numbers for half. Larger numbers, for more than 1 MiB of L2,
// have not been measured.
func near(d machine.Description, r machine.Rates) int {
	const least = tuned / 8
	bytes := d.L2.PerCore()
	if quick(r) {
		bytes = max(bytes, d.L3.PerCore()/4)
	}
	return max(min(bytes, tuned), least)
}

// quick reports whether L3 delivers the rows of a product as fast as a core needs them:
// the tiles of 16 channels do 8 operations for every byte of a row that they read.
func quick(r machine.Rates) bool { return r.L3 >= r.Flops/8 }

// rows returns the number of rows for each read of heavy weights. Reading them from memory
// then needs at most a sixteenth of the time of computing with them, even for images of 7
// by 7, the smallest with heavy weights. The result is at least 8; no smaller number was
// measured to be better.
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
