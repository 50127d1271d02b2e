package cpu

import (
	"sync"
	"time"

	"github.com/bnctl/bnctl/plugins/cpu/internal/kernel"
	"github.com/bnctl/bnctl/plugins/cpu/internal/machine"
)

// Limits are the current peak rates of a number of threads of this machine.
type Limits struct {
	Kernels string  // name of the kernels: "avx512", "avx2", "generic"
	Flops   float64 // floating-point operations per second, without reading memory
	Bytes   float64 // bytes per second read and written when memory is copied
}

// Describe returns a description of this machine, as lines for a person: facts from the system,
// assumptions, and the rates of one core. The rates are measured the first time and then stored. kernels is
// a kernel class or name.
func Describe(kernels string) ([]string, error) {
	set, err := kernel.Pick(kernels, false)
	if err != nil {
		return nil, err
	}
	d := machine.System()
	r := ratesOf(d, set)
	lines := append(d.Lines(), r.Line())
	if r.note != "" {
		lines = append(lines, r.note)
	}
	return lines, nil
}

// rates are the rates of the machine with a set of kernels. This process has measured them or read them
// from a file.
type rates struct {
	machine.Rates
	note string // the reason why the rates could not be stored, or ""
}

// known are rates by the name of the kernels.
var known sync.Map

// ratesOf returns the rates of this machine with a set of kernels: those that are stored, or those that
// this process measures the first time.
func ratesOf(description machine.Description, set *kernel.Set) rates {
	if r, ok := known.Load(set.Name); ok {
		return r.(rates)
	}
	r, note := machine.LoadOrMeasure(machine.Folder(), description, set.Name, set.Peak)
	known.Store(set.Name, rates{r, note})
	return rates{r, note}
}

// limitTime is the time for measuring each limit.
const limitTime = 100 * time.Millisecond

// Measure measures the limits for kernels of a class or name. It returns the best of a few tries, so that
// other programs affect them little. Limits are for all threads together, which share memory, and only for
// the present. Rates, in contrast, are for one core and are stored.
func Measure(kernels string, threads int) (Limits, error) {
	set, err := kernel.Pick(kernels, false)
	if err != nil {
		return Limits{}, err
	}
	const rounds = 20000
	l := Limits{Kernels: set.Name}
	l.Flops = best(threads, func(int) int { return set.Peak(rounds) })
	const each = 32 << 20 // bytes; far more than a core's share of any cache
	from, to := make([]byte, threads*each), make([]byte, threads*each)
	for i := range from {
		from[i] = 1 // memory that was never written has no pages yet
	}
	l.Bytes = best(threads, func(i int) int { return 2 * copy(to[i*each:(i+1)*each], from[i*each:]) })
	return l, nil
}

// best repeatedly runs work on the given number of threads, and returns the highest rate in units
// per second. work receives the number of its thread and returns the number of units that it has
// done.
func best(threads int, work func(thread int) int) float64 {
	var rate float64
	for began := time.Now(); time.Since(began) < limitTime; {
		units := make([]int, threads)
		var wait sync.WaitGroup
		start := time.Now()
		for i := range threads {
			wait.Go(func() { units[i] = work(i) })
		}
		wait.Wait()
		took, total := time.Since(start).Seconds(), 0
		for _, n := range units {
			total += n
		}
		rate = max(rate, float64(total)/took)
	}
	return rate
}
