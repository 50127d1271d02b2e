package placement

import "fmt"

// Ranks assigns each rank a range of the replicas; the ranges are as even as possible. A
// process without other ranks holds all replicas.
type Ranks struct {
	counts []int // replicas of all ranks; nil for a single process
	first  int   // first replica of this rank
	count  int   // replicas of this rank
}

// SingleProcess returns the ranks of a run of one process, which holds all replicas.
func SingleProcess(replicas int) Ranks { return Ranks{count: replicas} }

// NewRanks divides the replicas among ranks and returns the division as seen by rank.
func NewRanks(replicas, rank, ranks int) (r Ranks, err error) {
	if ranks > replicas {
		return r, fmt.Errorf("%d ranks for %d replicas: there must be at least one replica for each rank", ranks,
			replicas)
	}
	r.counts = Split(replicas, ranks)
	from, to := r.Of(rank)
	r.first, r.count = from, to-from
	return r, nil
}

// Counts returns the number of replicas of each rank; nil for a single process.
func (r Ranks) Counts() []int { return r.counts }

// Of returns the replicas of a rank.
func (r Ranks) Of(rank int) (from, to int) {
	for _, n := range r.counts[:rank] {
		from += n
	}
	return from, from + r.counts[rank]
}

// Range returns the replicas of this rank.
func (r Ranks) Range() (from, to int) { return r.first, r.first + r.count }

// Holder returns the rank that holds a replica; ok is false for a single process and for a
// replica that does not exist.
func (r Ranks) Holder(replica int) (rank int, ok bool) {
	for rank := range r.counts {
		if from, to := r.Of(rank); from <= replica && replica < to {
			return rank, true
		}
	}
	return 0, false
}

// shift moves ranges that begin at 0 to the replicas of this rank.
func (r Ranks) shift(ranges [][]int) {
	for _, replicas := range ranges {
		for i := range replicas {
			replicas[i] += r.first
		}
	}
}
