package keras

import (
	"strings"

	"github.com/bnctl/bnctl/formats/internal/foreign"
)

// GraphTensors returns the weights of a file of weights alone as the graph of
// its model would have them: "conv2d/kernel:0" is conv2d.kernel there, and
// kernels have their channels first.
func GraphTensors(tensors []foreign.Tensor) []foreign.Tensor {
	out := make([]foreign.Tensor, len(tensors))
	for i, t := range tensors {
		name := strings.TrimSuffix(t.Name, ":0")
		if at := strings.LastIndexByte(name, '/'); at >= 0 {
			name = name[:at] + "." + name[at+1:]
		}
		out[i] = t.Renamed(name)
	}
	return foreign.ChannelsFirst(out)
}
