// Package placement says which replicas lie where: which ranks hold which range of
// them, and which of a rank's range each of its devices has.
//
//	replicas   0  1  2  3  4  5  6  7
//	ranks      [---- 0 ----][---- 1 ----]    ranges as even as can be (Ranks)
//	devices    [cuda:0][cpu][cuda:0][cpu]    of a rank: counts of the user's, alike, or
//	            0  1  2  3   4  5  6  7      in proportion to speed (Placement)
//
// Ranges are contiguous, so that a device sums neighbouring leaves of the canonical
// tree (collective.Cover) and sends few values. Where a replica lies decides how
// fast a step is and no bit of its result.
package placement
