package train

import (
	"strconv"
	"strings"
)

// Successors returns a phrase that names the new devices of the replicas of the lost
// device.
func (e DeviceLost) Successors() string {
	if len(e.MovedTo) == 0 {
		return "no device is left; waiting for one"
	}
	return "its replicas moved to " + strings.Join(e.MovedTo, ", ")
}

// Placement returns a list of the devices, each with the number of its replicas.
func (e Placed) Placement() string {
	var counts []string
	for i, name := range e.Devices {
		counts = append(counts, name+" ("+strconv.Itoa(e.Replicas[i])+")")
	}
	return strings.Join(counts, ", ")
}
