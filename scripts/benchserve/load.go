package main

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"sync"
	"time"
)

// outcome has the results of a load, a series of requests.
type outcome struct {
	mu         sync.Mutex
	took       []time.Duration // time from when each answered request was due to its answer; sorted at the end
	ended      []time.Duration // when each request was answered, since the beginning
	calm       []time.Duration // elements of took for times when no other machine had the cores; sorted
	delays     []time.Duration // how late each request was sent, a part of took; sorted
	busy       int
	mismatches int // number of answers with other bits
	failed     int // neither answered nor refused because of the load
	why        error
	memory     []float64 // memory of the server in MiB, every second
}

// load sends requests at a rate for the time long, and returns when all have ended. It sends first requests
// at once. All answers must equal want; nil permits any answer. It records the memory of s every second,
// which keeps a core busy for milliseconds. s is nil where latency is measured.
func load(a asker, want []byte, rate float64, long time.Duration, s *server, first int) *outcome {
	out, draw := &outcome{}, rand.New(rand.NewPCG(1, 2))
	var all sync.WaitGroup
	began := time.Now()
	ends := make(chan struct{})
	if s != nil {
		all.Go(func() { out.watch(s, ends) })
	}
	robbed := make(chan []theft, 1)
	go func() { robbed <- thefts(began, ends) }()
	for range first {
		all.Go(func() { out.ask(a, want, began, 0) })
	}
	apart := float64(time.Second) / rate
	clock := newAlarm()
	defer clock.Close()
	for due := time.Duration(0); due < long; due += time.Duration(draw.ExpFloat64() * apart) {
		clock.sleep(due - time.Since(began))
		all.Go(func() { out.ask(a, want, began, due) })
	}
	close(ends)
	all.Wait()
	out.calm = calm(out.took, out.ended, <-robbed)
	slices.Sort(out.took)
	slices.Sort(out.calm)
	slices.Sort(out.delays)
	return out
}

// watch records the memory of a server every second, until ends is closed.
func (o *outcome) watch(s *server, ends chan struct{}) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			o.memory = append(o.memory, s.memory())
		case <-ends:
			return
		}
	}
}

// ask sends one request. It is due at this time after the beginning.
func (o *outcome) ask(a asker, want []byte, began time.Time, due time.Duration) {
	delay := time.Since(began) - due
	got, err := a.ask()
	ended := time.Since(began)
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case err == busy:
		o.busy++
	case err != nil:
		o.failed, o.why = o.failed+1, err
	default:
		o.took, o.ended, o.delays = append(o.took, ended-due), append(o.ended, ended), append(o.delays, delay)
		if want != nil && !bytes.Equal(got, want) {
			o.mismatches++
		}
	}
}

// rate returns the answers per second, without the first fifth of a load. Answers arrive in batches, so rate
// counts them from the end of one batch to the end of the last batch.
func (o *outcome) rate(long time.Duration, batch int) float64 {
	slices.Sort(o.ended)
	from, _ := slices.BinarySearch(o.ended, long/5)
	to, _ := slices.BinarySearch(o.ended, long)
	if to-from <= batch {
		return 0
	}
	return float64(to-from-batch) / (o.ended[to-1] - o.ended[from]).Seconds()
}

// quantile returns the time within which a share q of the answers arrived.
func (o *outcome) quantile(q float64) time.Duration { return quantile(o.took, q) }

func quantile(sorted []time.Duration, q float64) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[min(len(sorted)-1, int(q*float64(len(sorted))))]
}
