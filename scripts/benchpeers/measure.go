package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/bnctl/bnctl/scripts/internal/report"
)

// bench is the state of a run.
type bench struct {
	options
	ctx      context.Context
	peers    map[string]*peer // peers by command
	unloaded []string         // names of peers that do not stay loaded: "oneDNN 2.6.3"
	files    map[string]string
	lacks    []string        // measurements that peers cannot make
	overdue  map[string]bool // forms of PyTorch that did not answer in time, by model and batch
}

// result has the figures that were measured for a row.
type result struct {
	row
	bnctl, theirs report.Sample // theirs is empty if the row has one side only
	bestPeer      string        // name of the best peer
	overdue       []string      // names of peers that did not answer in time
	before        probe
	after         probe
}

// pause is the time after each measurement for threads of the measured side that still spin to go to sleep.
const pause = 50 * time.Millisecond

// measure measures the sides of a row alternately, in several rounds.
func (b *bench) measure(ctx context.Context, r row) (result, error) {
	b.ctx = ctx
	out := result{row: r}
	var err error
	if out.before, err = b.probe(r.threads); err != nil {
		return out, err
	}
	sides := append([]side{r.bnctl}, r.theirs...)
	samples := make([]report.Sample, len(sides))
	for round := range b.rounds {
		for i, s := range sides {
			if round > 0 && i > 0 && !r.near(samples[i], samples[1:]) {
				continue
			}
			if samples[i], err = b.again(&out, samples[i], s); err != nil {
				return out, err
			}
		}
	}
	if out.after, err = b.probe(r.threads); err != nil {
		return out, err
	}
	for _, s := range samples {
		slices.Sort(s)
	}
	out.bnctl = samples[0]
	for i, s := range samples[1:] {
		if len(s) > 0 && (len(out.theirs) == 0 || report.Times(s, out.theirs, r.lowerIsBetter) > 1) {
			out.theirs, out.bestPeer = s, r.theirs[i].name
		}
	}
	if len(r.theirs) > 0 && len(out.theirs) == 0 {
		return out, errors.New("no peer has this row")
	}
	return out, nil
}

// again measures a side once more and adds the figure to s. If a peer does not have the requested form, this
// is noted.
func (b *bench) again(r *result, s report.Sample, peer side) (report.Sample, error) {
	v, err := peer.measure(b)
	var none missing
	if errors.As(err, &none) {
		if none.overdue {
			r.overdue = append(r.overdue, peer.name)
		}
		b.missed(peer.name + ": " + none.why)
		return s, nil
	}
	if err != nil {
		return s, fmt.Errorf("%s: %w", peer.name, err)
	}
	time.Sleep(pause)
	return append(s, v), nil
}

// near reports whether a peer that was measured once may still turn out to be the best of the row. The speed
// of the machine varies, but by less than the factor within.
func (r row) near(s report.Sample, peers []report.Sample) bool {
	const within = 0.7
	return len(s) > 0 && !slices.ContainsFunc(peers, func(o report.Sample) bool {
		return len(o) > 0 && report.Times(s, o, r.lowerIsBetter) < within
	})
}

// missed records a measurement that a peer cannot make, unless it is already recorded.
func (b *bench) missed(text string) {
	if !slices.Contains(b.lacks, text) {
		b.lacks = append(b.lacks, text)
		fmt.Fprintln(os.Stderr, "left out:", text)
	}
}

// ratio returns the factor by which bnctl is better than the best peer.
func (r result) ratio() float64 { return report.Times(r.bnctl, r.theirs, r.lowerIsBetter) }

func (b *bench) close() {
	for _, p := range b.peers {
		p.close()
	}
}
