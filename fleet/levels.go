package fleet

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/problem"
)

// dataPlanes are the words that Plugins.Levels may contain: ways in which tensors get to a device.
var dataPlanes = []string{device.Stream, device.Shm, device.CollShm}

// CheckLevels returns a *problem.Error for a word of p.Levels that is not the name of a data plane.
func (p Plugins) CheckLevels() error {
	for _, level := range p.Levels {
		if !slices.Contains(dataPlanes, level) {
			e := problem.New("level", fmt.Sprintf("%q", level), "want one of "+strings.Join(dataPlanes, ", "), "")
			e.Known = dataPlanes
			return e
		}
	}
	return nil
}
