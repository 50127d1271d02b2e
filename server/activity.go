package server

import (
	"sync"
	"time"
)

// The web page shows the activity of the last minutes, in slots: this number of slots, each of this duration.
const (
	slotTime = 5 * time.Second
	slots    = 60
)

// slot has the figures of a model version for a few seconds.
type slot struct {
	number           int64 // number of the slot: slots since 1970
	answered, failed int   // requests
	rows             int
	queued, computed time.Duration // sums over all answered requests
	slowest          time.Duration // longest time in the queue and on the device
	waiting          int           // largest number of rows in the queue
}

// activity has the figures of a model version for the last minutes.
type activity struct {
	mu    sync.Mutex
	ring  [slots]slot
	total totals
}

// totals has the figures of a model version since it was first served.
type totals struct {
	answered, failed          int // requests
	rows, batches             int
	queued, computed, encoded time.Duration // sums over all answered requests
	last                      time.Time     // the last answer
}

// slotAt returns the slot that contains a time. The caller holds mu.
func (a *activity) slotAt(t time.Time) *slot {
	number := t.UnixNano() / int64(slotTime)
	s := &a.ring[number%slots]
	if s.number != number {
		*s = slot{number: number}
	}
	return s
}

// count counts a request that ended at the time end.
func (a *activity) count(end time.Time, r *record, failed bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	s := a.slotAt(end)
	t := &a.total
	if failed {
		s.failed++
		t.failed++
		return
	}
	s.answered++
	t.answered, t.rows, t.last = t.answered+1, t.rows+r.rows, end
	t.queued, t.computed, t.encoded = t.queued+r.queued, t.computed+r.computed, t.encoded+r.encoded
	s.rows += r.rows
	s.queued, s.computed = s.queued+r.queued, s.computed+r.computed
	s.slowest = max(s.slowest, r.queued+r.computed)
}

// batch counts a batch that ended at the time end, and records the number of rows that waited then.
func (a *activity) batch(end time.Time, waiting int) {
	a.wait(end, waiting)
	a.mu.Lock()
	defer a.mu.Unlock()
	a.total.batches++
}

// totals returns the totals.
func (a *activity) totals() totals {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.total
}

// wait records the number of rows that wait at the time t.
func (a *activity) wait(t time.Time, rows int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	s := a.slotAt(t)
	s.waiting = max(s.waiting, rows)
}

// last returns the slots up to a time, the oldest first, including empty ones.
func (a *activity) last(t time.Time) []slot {
	a.mu.Lock()
	defer a.mu.Unlock()
	end := a.slotAt(t).number
	var all []slot
	for number := end - slots + 1; number <= end; number++ {
		if s := a.ring[number%slots]; s.number == number {
			all = append(all, s)
		} else {
			all = append(all, slot{number: number})
		}
	}
	return all
}

// activities has the activity of each model version. A version keeps its activity when its file is replaced.
type activities struct {
	mu      sync.Mutex
	byModel map[[2]string]*activity // activities by model and version
}

// get returns the activity of a version.
func (a *activities) get(model, version string) *activity {
	a.mu.Lock()
	defer a.mu.Unlock()
	key := [2]string{model, version}
	if a.byModel == nil {
		a.byModel = map[[2]string]*activity{}
	}
	if a.byModel[key] == nil {
		a.byModel[key] = &activity{}
	}
	return a.byModel[key]
}

// forget removes the activity of a version that is no longer served.
func (a *activities) forget(model, version string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.byModel, [2]string{model, version})
}
