package main

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
)

// alone measures bnctl serve with a network, without other servers, and prints the figures.
func (b *bench) alone(n network) error {
	path, err := b.file(n)
	if err != nil {
		return err
	}
	say(n.name, "", "")
	say("---", "---", "---")
	var single time.Duration
	if b.wants("single") || b.wants("half") {
		if single, err = b.single(path, n); err != nil {
			return err
		}
	}
	s, err := b.serve(path, n, nil, "--threads", "1")
	if err != nil {
		return err
	}
	defer s.close()
	ways, want, err := b.ways(s, n, dialShared)
	if err != nil {
		return err
	}
	defer closeAll(ways)
	capacity := b.capacity
	if b.wants("saturated") || capacity == 0 && (b.wants("half") || b.wants("twice")) {
		if capacity, err = b.saturated(path, n, s, ways[:2], want); err != nil {
			return err
		}
	}
	if b.wants("half") {
		b.halfLoaded(capacity/2, single, ways[0], want, s)
	}
	if b.wants("twice") {
		b.overloaded(capacity, n, ways[0], want, s)
	}
	return nil
}

// wants reports whether the flags select a section of the measurement.
func (b *bench) wants(section string) bool {
	return slices.Contains(strings.Split(b.sections, ","), section)
}

// halfLoaded sends requests at a rate in rows per second, in several turns. If only one turn is slow, the
// cause is other work of the machine, not the server.
func (b *bench) halfLoaded(rate float64, single time.Duration, w way, want []byte, s *server) {
	before, all := s.use(), []*outcome{}
	for range b.rounds {
		all = append(all, load(w, want, rate, b.long(rate), nil, 0))
	}
	used := s.use().since(before)
	slices.SortFunc(all, func(x, y *outcome) int { return cmp.Compare(x.quantile(0.99), y.quantile(0.99)) })
	half, each := all[len(all)/2], ""
	var calm, delayed []time.Duration
	for _, o := range all {
		each += " " + ms(o.quantile(0.99))
		calm, delayed = append(calm, o.calm...), append(delayed, o.delays...)
	}
	slices.Sort(calm)
	slices.Sort(delayed)
	p99, alone := half.quantile(0.99), quantile(calm, 0.99)
	say("half of that, HTTP",
		fmt.Sprintf("p50 %s, p99 %s, p99.9 %s ms", ms(half.quantile(0.5)), ms(p99), ms(half.quantile(0.999))),
		fmt.Sprintf("p99 is %.1f of one in flight (all turns:%s); %.1f (%s ms) of %d with all cores here; "+
			"sent late by p50 %s, p99 %s ms; %s; %s",
			float64(p99)/float64(single), each, float64(alone)/float64(single), ms(alone), len(calm),
			ms(quantile(delayed, 0.5)), ms(quantile(delayed, 0.99)), half, used))
}

// saturated sends more requests than the server can answer. These loads alternate with runs of bnctl bench,
// for comparison.
func (b *bench) saturated(path string, n network, s *server, ways []way, want []byte) (float64, error) {
	rates, used := map[string][]float64{}, map[string]string{}
	for range b.rounds {
		rate, err := b.direct(path, n, "--threads", "1")
		if err != nil {
			return 0, err
		}
		rates["bench"] = append(rates["bench"], rate)
		for _, w := range ways {
			before := s.use()
			out := load(w, want, b.more(rate), b.turn, nil, 2*n.batch)
			used[w.name] = s.use().since(before)
			if err := out.clean(); err != nil {
				return 0, err
			}
			rates[w.name] = append(rates[w.name], out.rate(b.turn, n.batch))
		}
	}
	direct, best := median(rates["bench"]), 0.0
	say("bench", fmt.Sprintf("%.1f images/s", direct), "")
	for _, w := range ways {
		rate := median(rates[w.name])
		say("saturated, "+w.name, fmt.Sprintf("%.1f images/s", rate),
			fmt.Sprintf("%.2f of bench; %s", rate/direct, used[w.name]))
		best = max(best, rate)
	}
	return best, nil
}

// overloaded sends requests at twice the rate that the server can answer.
func (b *bench) overloaded(capacity float64, n network, w way, want []byte, s *server) {
	out := load(w, want, 2*capacity, b.overload, s, 0)
	memory := "too short for memory"
	if last := len(out.memory); last > 10 {
		from, to := out.memory[9], out.memory[last-1]
		memory = fmt.Sprintf("%.1f MiB at second 10, %.1f at %d: %+.1f %%; highest %.1f", from, to, last,
			100*(to/from-1), slices.Max(out.memory))
	}
	rate := out.rate(b.overload, n.batch)
	say(fmt.Sprintf("twice that, %v", b.overload), fmt.Sprintf("%.1f images/s, p99 %s ms", rate,
		ms(out.quantile(0.99))), memory+"; "+out.String())
}

// String returns the numbers of answered, refused, wrong and lost requests.
func (o *outcome) String() string {
	return fmt.Sprintf("%d answered, %d refused, %d wrong, %d lost", len(o.took), o.busy, o.mismatches, o.failed)
}

// clean returns an error if a request was lost or answered wrongly.
func (o *outcome) clean() error {
	if o.mismatches+o.failed == 0 {
		return nil
	}
	return fmt.Errorf("%v: %w", o, o.why)
}

// more returns a rate that is higher than the given one, so that requests with random arrival times exceed
// the given rate in every turn. It is not higher than necessary, because rejected requests also use the core
// of the front, the process that receives requests.
func (b *bench) more(rate float64) float64 { return rate * (1.1 + 3/math.Sqrt(rate*b.turn.Seconds())) }

// long returns how long a load at a rate must last to give a reliable p99.
func (b *bench) long(rate float64) time.Duration {
	const requests = 1000
	return min(max(b.turn, time.Duration(requests/rate*float64(time.Second))), 6*b.turn)
}

func median(v []float64) float64 {
	slices.Sort(v)
	return v[len(v)/2]
}

func ms(d time.Duration) string  { return fmt.Sprintf("%.2f", d.Seconds()*1000) }
func us(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1000 }
