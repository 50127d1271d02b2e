package parallel

import (
	"errors"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/internal/memory"
	"github.com/bnctl/bnctl/parallel/stage"
)

// memoryOf returns how many bytes each of some devices has free. Those that have the memory of this
// process have it in common; one with a limit of its own, as in a container, has that for itself.
func memoryOf(devices []Member) []int64 {
	free, total := make([]int64, len(devices)), totalMemory()
	of := func(i int) device.Info { return devices[i].Device.Info() }
	sharers := int64(0)
	for i := range devices {
		free[i] = of(i).MemoryFree
		if of(i).Threads > 0 && of(i).MemoryTotal == total {
			sharers++
		}
	}
	for i := range devices {
		if of(i).Threads > 0 && of(i).MemoryTotal == total {
			free[i] /= sharers
		}
	}
	return free
}

// totalMemory returns the memory that this process may have.
func totalMemory() int64 {
	total, _ := memory.Machine()
	return total
}

// withMoreStages calls open, which says how many stages there are. Where their number is not given and a
// device refuses for want of memory, it is called again for more of them.
func withMoreStages(s stage.Spec, open func(stage.Spec) (stages int, err error)) error {
	var refused error
	for {
		stages, err := open(s)
		switch {
		case err == nil:
			return nil
		case s.Auto && stages > 0 && errors.Is(err, device.OutOfMemory):
			refused, s.Least = err, stages+1
		case refused != nil && stages == 0: // there is no division into more
			return refused
		default:
			return err
		}
	}
}
