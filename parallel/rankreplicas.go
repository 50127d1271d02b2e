package parallel

import "fmt"

// rankReplicas says which replicas each rank holds: a range of them, as even as
// can be. Without peers this process holds all.
type rankReplicas struct {
	counts []int // replicas of all ranks; nil without peers
	first  int   // replica of this rank
	count  int   // of this rank
}

// newRankReplicas returns the shares of the ranks of a run.
func newRankReplicas(c Config) (r rankReplicas, err error) {
	p := c.Peers
	switch {
	case p == nil:
		return rankReplicas{count: c.Replicas}, nil
	case c.Local:
		return r, fmt.Errorf("replicas with weights of their own are not kept on several ranks")
	case p.Size() > c.Replicas:
		return r, fmt.Errorf("%d ranks for %d replicas: there must be at least one replica for each rank", p.Size(),
			c.Replicas)
	}
	r.counts = Split(c.Replicas, p.Size())
	from, to := r.of(p.Rank())
	r.first, r.count = from, to-from
	return r, nil
}

// of returns the replicas of a rank.
func (r rankReplicas) of(rank int) (from, to int) {
	for _, n := range r.counts[:rank] {
		from += n
	}
	return from, from + r.counts[rank]
}

// own returns the replicas of this rank.
func (r rankReplicas) own() (from, to int) { return r.first, r.first + r.count }

// holder returns the rank that holds a replica; ok is false without peers, and
// if there is no such replica.
func (r rankReplicas) holder(replica int) (rank int, ok bool) {
	for rank := range r.counts {
		if from, to := r.of(rank); from <= replica && replica < to {
			return rank, true
		}
	}
	return 0, false
}

// shift moves ranges that begin at 0 to the replicas of this rank.
func (r rankReplicas) shift(ranges [][]int) {
	for _, replicas := range ranges {
		for i := range replicas {
			replicas[i] += r.first
		}
	}
}
