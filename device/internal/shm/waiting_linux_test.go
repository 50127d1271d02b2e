package shm

import (
	"context"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/bnctl/bnctl/device/collective"
	"github.com/bnctl/bnctl/tensor"
)

// BenchmarkWaiting measures how long two members with equal work wait for each other. A
// step has 42 exchanges of the moments of 16 channels, as in training resnet20, and 2
// milliseconds of work between two exchanges. The work is arithmetic in registers, or copying
// within 4 MiB of memory. It is always the same, so the waiting time beyond the time of an
// exchange shows how unevenly the machine runs two threads. One operation of the benchmark is
// a step. The benchmark reports median and mean of the part of a step that a member waits.
func BenchmarkWaiting(b *testing.B) {
	for _, kind := range []struct {
		name string
		work func() (once func())
	}{{"registers", arithmetic}, {"memory", goOver}} {
		b.Run(kind.name, func(b *testing.B) {
			const exchanges = 42
			once := kind.work()
			times := timesIn(2*time.Millisecond, once)
			_, members := group(b, true, []int{0}, []int{1})
			waited := make([][]float64, len(members)) // by member and step, in seconds
			var all sync.WaitGroup
			b.ResetTimer()
			for rank, m := range members {
				all.Go(func() {
					runtime.LockOSThread()
					defer runtime.UnlockOSThread()
					once := kind.work()
					for step := range b.N {
						sum := 0.0
						for i := range exchanges {
							for range times {
								once()
							}
							took, err := meet(m, rank, uint64(step), uint64(step*exchanges+i))
							if err != nil {
								b.Error(err)
								return
							}
							sum += took
						}
						waited[rank] = append(waited[rank], sum)
					}
				})
			}
			all.Wait()
			reportShares(b, waited)
		})
	}
}

// meet makes one exchange and returns the seconds that it took.
func meet(m *Member, rank int, step, sequence uint64) (float64, error) {
	part := collective.Partial{Node: collective.Node{From: rank, To: rank + 1},
		Value: tensor.New(tensor.F64, 33)}
	v := []collective.Reduction{{Op: collective.MergeMoments, Partials: []collective.Partial{part},
		Result: tensor.New(tensor.F64, 33)}}
	began := time.Now()
	err := m.Start(context.Background(), collective.Tag{Step: step, Sequence: sequence, Name: "waiting"}, v)()
	return time.Since(began).Seconds(), err
}

// reportShares reports the part of a step that a member waited, averaged over the members. It
// assumes that all steps have the same length.
func reportShares(b *testing.B, waited [][]float64) {
	step := b.Elapsed().Seconds() / float64(b.N)
	var shares []float64
	sum := 0.0
	for i := range b.N {
		share := 0.0
		for _, w := range waited {
			share += 100 * w[i] / step / float64(len(waited))
		}
		shares, sum = append(shares, share), sum+share
	}
	slices.Sort(shares)
	b.ReportMetric(shares[len(shares)/2], "%-waited")
	b.ReportMetric(sum/float64(b.N), "%-waited-mean")
}

// timesIn returns how many calls of work fit into d, according to the fastest of some calls.
func timesIn(d time.Duration, work func()) int {
	least := time.Duration(1 << 62)
	for range 50 {
		began := time.Now()
		work()
		least = min(least, time.Since(began))
	}
	return int(max(1, d/least))
}

// arithmetic returns a chain of multiply-adds.
func arithmetic() func() {
	x := 1.0
	return func() {
		for range 10_000 {
			x = x*0.999 + 0.5
		}
	}
}

// goOver returns a function that copies one half of 4 MiB to the other half. The memory has two
// huge pages if the system provides them. The placement of small pages in the caches varies, and
// could make one member slower in the whole benchmark.
func goOver() func() {
	const size, page = 4 << 20, 2 << 20
	b := make([]byte, size+page)
	skip := -uintptr(unsafe.Pointer(unsafe.SliceData(b))) & (page - 1)
	b = b[skip:][:size]
	_ = unix.Madvise(b, unix.MADV_HUGEPAGE) // if the system refuses, small pages are used
	return func() { copy(b[size/2:], b) }
}
