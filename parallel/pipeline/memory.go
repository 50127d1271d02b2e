package pipeline

import (
	"errors"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/internal/memory"
	"github.com/bnctl/bnctl/parallel/stage"
)

// memoryOf returns the free memory of each device in bytes. Devices that use the memory of
// this process share it; a device with a separate limit, as in a container, has that memory
// alone.
func memoryOf(devices []Device) []int64 {
	free, total := make([]int64, len(devices)), totalMemory()
	sharers := int64(0)
	for i := range devices {
		free[i] = devices[i].Info.MemoryFree
		if devices[i].Info.Threads > 0 && devices[i].Info.MemoryTotal == total {
			sharers++
		}
	}
	for i := range devices {
		if devices[i].Info.Threads > 0 && devices[i].Info.MemoryTotal == total {
			free[i] /= sharers
		}
	}
	return free
}

// totalMemory returns the memory available to this process.
func totalMemory() int64 {
	total, _ := memory.Machine()
	return total
}

// withMoreStages calls open, which returns the number of stages. If the user did not set
// the number and a device runs out of memory, it calls open again with more stages.
func withMoreStages(s stage.Spec, open func(stage.Spec) (stages int, err error)) error {
	var refused error
	for {
		stages, err := open(s)
		switch {
		case err == nil:
			return nil
		case s.Auto && stages > 0 && errors.Is(err, device.OutOfMemory):
			refused, s.Least = err, stages+1
		case refused != nil && stages == 0: // a division into more stages does not exist
			return refused
		default:
			return err
		}
	}
}
