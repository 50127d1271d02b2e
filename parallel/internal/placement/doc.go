// Package placement assigns replicas to ranks and to devices. Each rank holds a range
// of the replicas, and each device holds a part of its rank's range.
//
//	replicas   0  1  2  3  4  5  6  7
//	ranks      [---- 0 ----][---- 1 ----]    ranges as even as can be (Ranks)
//	devices    [cuda:0][cpu][cuda:0][cpu]    within a rank: by the user's counts, evenly,
//	            0  1  2  3   4  5  6  7      or in proportion to speed (Placement)
//
// Ranges are contiguous, so that a device sums neighbouring leaves of the canonical
// tree (collective.Cover) and sends few values. The placement affects the speed of a
// step, never a bit of its result.
package placement
