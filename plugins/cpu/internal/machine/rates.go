package machine

import (
	"bytes"
	"runtime/debug"
	"time"

	"github.com/bnctl/bnctl/internal/memory"
)

// turns is the number of times that each rate is measured, and least the minimum duration of one turn. The
// best turn is used, because other programs can only slow it down.
const (
	turns = 3
	least = 300 * time.Microsecond
)

// farBytes is the amount of memory that is read, written and copied: more than a core's
// share of any cache, and small enough to be allocated in some milliseconds.
const farBytes = 64 << 20

// farOf returns the amount of memory for a machine: farBytes, up to twice that for a large
// L3, but at most an eighth of the available memory, if that is known (above 0).
func farOf(d Description, available int64) int {
	n := max(farBytes, min(2*d.L3.Bytes, 2*farBytes))
	if available > 0 {
		n = int(min(int64(n), max(available/8, 1<<20)))
	}
	return n
}

// Measure returns the rates of one core in some tens of milliseconds. peak does
// the given number of rounds of multiply-adds and returns the number of operations.
func Measure(d Description, peak func(rounds int) (operations int)) Rates {
	defer debug.FreeOSMemory() // the device does not need this memory
	_, available := memory.Machine()
	memory := make([]byte, farOf(d, available))
	for i := 0; i < len(memory); i += 4096 {
		memory[i] = 1 // memory that was never written has no pages yet
	}
	half := len(memory) / 2
	return Rates{
		Flops:  best(func() int { return peak(1000) }),
		L2:     best(func() int { return read(memory[:min(d.L2.Bytes/2, half)]) }),
		L3:     best(func() int { return read(memory[:min(max(min(d.L3.Bytes/2, half/4), 2*d.L2.Bytes), half)]) }),
		Memory: best(func() int { return read(memory) }),
		Write:  best(func() int { clear(memory); return len(memory) }),
		Copy:   best(func() int { return 2 * copy(memory[:half], memory[half:]) }),
	}
}

// read reads memory and returns its size. The bytes are never 2, so that a search for 2,
// which uses the vectors of the processor, reads all of them.
func read(memory []byte) int { return len(memory) + bytes.IndexByte(memory, 2) + 1 }

// best calls work several times and returns the highest rate, in units per second. work returns the number
// of units that it has done.
func best(work func() int) (rate float64) {
	work() // warms the cache
	for range turns {
		began, units, took := time.Now(), 0, time.Duration(0)
		for took < least {
			units += work()
			took = time.Since(began)
		}
		rate = max(rate, float64(units)/took.Seconds())
	}
	return rate
}
