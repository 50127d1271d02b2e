package keras

import (
	"strings"

	"github.com/bnctl/bnctl/formats/internal/foreign"
)

// GraphTensors returns the tensors of a file of weights alone with the names and the layout
// of the model's graph: "conv2d/kernel:0" becomes conv2d.kernel, and kernels have their
// channels first.
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
