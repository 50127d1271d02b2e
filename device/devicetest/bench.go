package devicetest

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/bnctl/bnctl/graph"
)

// Benchmark is a measurement of an operation, a call or an exchange.
type Benchmark struct {
	Name string     // "conv: 3x3, 64 channels of 56x56, 8 rows"
	Ops  []graph.Op // the operations that it runs

	times   int // number of executions of the measured thing in one run
	setting func() (*setting, error)
	members [][]int // replicas of the members of a group; nil: a device that is alone
}

// Devices returns how many devices the benchmark opens at a time.
func (b Benchmark) Devices() int { return max(len(b.members), 1) }

// Computes reports whether the benchmark measures operations, so that its rates
// are meaningful.
func (b Benchmark) Computes() bool { return len(b.Ops) > 0 && b.members == nil }

// Figure is the result of a benchmark.
type Figure struct {
	Benchmark
	Lacks []graph.Op // operations that the device lacks; if there are any, nothing was measured
	Runs  int
	// Best, Median and Worst are times of one execution. For an operation the device reports the time
	// (Outcome.Took). For a call or an exchange the caller measures it.
	Best, Median, Worst time.Duration
	Flops, Bytes        float64 // cost of one execution, as graph.Cost counts it
}

// FlopRate returns the operations per second of the median.
func (f Figure) FlopRate() float64 { return f.Flops / f.Median.Seconds() }

// ByteRate returns the bytes per second of the median.
func (f Figure) ByteRate() float64 { return f.Bytes / f.Median.Seconds() }

// Bench runs the benchmarks of list on devices opened by open, at a precision. It measures
// single operations, a call that does nothing, and exchanges between two devices. Each
// benchmark runs for about the given time. Bench returns an error if a call is longer than a
// minute, or than the time set by WithPatience. done, if not nil, is called after every
// benchmark.
func Bench(ctx context.Context, open Opener, precision string, list []Benchmark, duration time.Duration,
	done func(Figure)) error {
	ctx = withPrecision(ctx, precision)
	open = open.timely(&clock{limit: patienceOf(ctx)})
	info, err := infoOf(ctx, open)
	if err != nil {
		return err
	}
	for _, b := range list {
		f, err := b.measure(ctx, open, info.Ops, duration)
		if err != nil {
			return fmt.Errorf("%s: %w", b.Name, err)
		}
		if done != nil {
			done(f)
		}
	}
	return nil
}

// measure runs the benchmark.
func (b Benchmark) measure(ctx context.Context, open Opener, supported []graph.Op, duration time.Duration) (
	Figure, error) {
	f := Figure{Benchmark: b}
	for _, o := range b.Ops {
		if !slices.Contains(supported, o) {
			f.Lacks = append(f.Lacks, o)
		}
	}
	if len(f.Lacks) > 0 {
		return f, nil
	}
	s, err := b.setting()
	if err != nil {
		return f, err
	}
	placement := b.members
	if placement == nil {
		placement = [][]int{nil}
		for r := range s.rows {
			placement[0] = append(placement[0], r)
		}
	}
	g, err := openGroup(ctx, open, s, placement...)
	if err != nil {
		return f, err
	}
	defer g.close()
	f.cost(s)
	return f, f.time(func(number uint64) (time.Duration, error) {
		if b.members != nil {
			began := time.Now()
			_, err := g.run(ctx, s, number)
			return time.Since(began), err
		}
		began := time.Now()
		o, err := g.members[0].x.Run(ctx, s.step(number))
		if !b.Computes() {
			return time.Since(began), err
		}
		return o.Took, err
	}, duration)
}

// cost sets the cost of one run of the function of s.
func (f *Figure) cost(s *setting) {
	fn := s.program.Function(s.function)
	f.Flops, f.Bytes = fn.TotalCost().At(sum(s.rows))
	f.Flops, f.Bytes = f.Flops/float64(f.times), f.Bytes/float64(f.times)
}

// time calls run again and again and records how long it took.
func (f *Figure) time(run func(number uint64) (time.Duration, error), duration time.Duration) error {
	const warmUp = 2
	var took []time.Duration
	began := time.Now()
	for n := uint64(0); len(took) == 0 || time.Since(began) < duration; n++ {
		t, err := run(n)
		if err != nil {
			return err
		}
		if n >= warmUp {
			took = append(took, max(t/time.Duration(f.times), 1))
		}
	}
	slices.Sort(took)
	f.Runs = len(took)
	f.Best, f.Median, f.Worst = took[0], took[len(took)/2], took[len(took)-1]
	return nil
}
