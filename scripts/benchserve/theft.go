package main

import "time"

// theft is an interval of time, since the beginning of a load, while other machines on the same host used
// cores of this machine. Requests in this time show little about the server.
type theft struct{ from, to time.Duration }

// glance is the interval between two readings of the stolen time. Linux counts stolen time in hundredths of a
// second.
const glance = 50 * time.Millisecond

// thefts records thefts until ends is closed. A request that waits for the cores is also late for some time
// after they are available again. So a theft is recorded as longer by one glance.
func thefts(began time.Time, ends chan struct{}) (list []theft) {
	tick := time.NewTicker(glance)
	defer tick.Stop()
	stolen, _ := machine()
	for at := time.Duration(0); ; {
		select {
		case <-tick.C:
		case <-ends:
			return list
		}
		now, _ := machine()
		since := time.Since(began)
		if now > stolen {
			list = append(list, theft{at, since + glance})
		}
		stolen, at = now, since
	}
}

// calm returns the times of those requests that were sent and answered while no theft happened. Request i was
// answered at time ended[i] since the beginning, took[i] after it was due.
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
