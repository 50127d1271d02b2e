package formats

import (
	"github.com/bnctl/bnctl/bn"
	"github.com/bnctl/bnctl/formats/internal/foreign"
)

// What a foreign file holds; the fields say more.
type (
	File    = foreign.File
	Tensor  = foreign.Tensor
	Counter = foreign.Counter
	Group   = foreign.Group
	Finding = foreign.Finding

	BatchNorm = foreign.BatchNorm
)

// Options say what of a file is wanted.
type Options struct {
	// Key is the path of the state dict in a PyTorch checkpoint; empty picks
	// the only one there is, or the one under a usual name.
	Key string
	// EMA takes the average of the weights instead of the weights.
	EMA bool
	// Drop are patterns (path.Match, * standing for slashes too) of names of
	// tensors to be left out. Each has to match one.
	Drop []string
	// Merge says how the running statistics of several ranks or replicas
	// become one; empty means bn.Pooled.
	Merge bn.Rule
	// Description describes the model of a Keras file of weights alone, in the
	// JSON that to_json returns, or the network of a Caffe file, in the text of
	// deploy.prototxt.
	Description []byte
	// Input is the shape of one sample, (C, H, W) for images, where the graph in
	// a file leaves lengths open. Lengths that the file fixes have to be the same.
	Input []int
	// TensorsOnly leaves out the graph: what a file of tensors is made of needs
	// none, and so no more than one tensor in memory.
	TensorsOnly bool
}

func (o Options) rule() bn.Rule {
	if o.Merge == "" {
		return bn.Pooled
	}
	return o.Merge
}

// Held returns a tensor that is in memory already, NewTensor one whose elements
// are read when asked for.
var (
	Held      = foreign.Held
	NewTensor = foreign.NewTensor
)
