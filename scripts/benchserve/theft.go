package main

import "time"

// theft is a time, since the beginning of a load, in which other machines of the same host
// had cores of this one: requests in this time show little about the server.
type theft struct{ from, to time.Duration }

// glance is the interval between two measurements of stolen time. Linux counts it in
// hundredths of a second.
const glance = 50 * time.Millisecond

// thefts records thefts until ends is closed. A request that waits for the cores is also late after they
// come back, so a theft is recorded as longer by a glance.
func thefts(began time.Time, ends chan struct{}) (all []theft) {
	tick := time.NewTicker(glance)
	defer tick.Stop()
	stolen, _ := machine()
	for at := time.Duration(0); ; {
		select {
		case <-tick.C:
		case <-ends:
			return all
		}
		now, _ := machine()
		since := time.Since(began)
		if now > stolen {
			all = append(all, theft{at, since + glance})
		}
		stolen, at = now, since
	}
}

// calm returns the times of the answers that were computed entirely between thefts. Answer
// i ended at time ended[i] since the beginning, and was computed in took[i].
func calm(took, ended []time.Duration, thefts []theft) (rest []time.Duration) {
	for i, d := range took {
		hit := false
		for _, t := range thefts {
			hit = hit || ended[i] > t.from && ended[i]-d < t.to
		}
		if !hit {
			rest = append(rest, d)
		}
	}
	return rest
}
