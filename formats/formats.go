package formats

import (
	"github.com/bnctl/bnctl/bn"
	"github.com/bnctl/bnctl/formats/internal/foreign"
	"github.com/bnctl/bnctl/tensor"
)

// File is an open file of another program, before an architecture is applied. Its fields:
//
//	Format   string         // format and variant: "pytorch zip", "keras h5"
//	Tensors  []Tensor       // only of the model, in the file's order, with the file's names
//	Model    *models.Model  // the graph with its weights; nil if the file has no graph
//	NoModel  error          // why Model is nil although the file describes a graph
//	Norms    []BatchNorm    // batch norms of the graph that the file describes
//	Key      string         // path of the state dict that was chosen; "" if there is only one
//	Keys     []string       // other paths that Options.Key can name
//	Wrappers []string       // removed around the model, outermost first: "state_dict", "module."
//	Counters []Counter      // single values that are not tensors: epoch, step, accuracy
//	Left     []Group        // contents of the file that Tensors leaves out
//	Findings []Finding      // remarks about the file
//	Quantised []QuantisedLayer // layers of a quantised graph, in bytes and in floats
//
// Tensor(name) returns a tensor and whether it exists. Close closes the file; tensors can
// be read until then.
type File = foreign.File

// Tensor is a tensor of a file: Name, DType and Shape. Load reads its elements.
type Tensor = foreign.Tensor

// Counter is a single value that is not a tensor, for example the epoch: Name and Value.
type Counter = foreign.Counter

// QuantisedLayer is a layer of a quantised graph: its Name and Op, whether it is computed in Bytes, and
// otherwise the Reason.
type QuantisedLayer = foreign.QuantisedLayer

// Group is a number of tensors that were left out together: Name is their place in the file
// ("optimizer"), Reason why they were left out, Advice how to include them, Tensors and
// Bytes their number and size.
type Group = foreign.Group

// Finding is a remark about a part of a file: Where (a tensor, a member or a key; "" is
// the whole file), Text, Advice, and Fault if the file cannot be used as it is.
type Finding = foreign.Finding

// BatchNorm is a batch norm of a file: its Name, the names of its tensors (Mean, Variance,
// Gamma, Beta, Count; "" if absent), and Eps and Decay, 0 if the file does not state them.
type BatchNorm = foreign.BatchNorm

// Options selects the parts of a file to read.
type Options struct {
	// Key is the path of the state dict in a PyTorch checkpoint. If it is empty, Open
	// chooses the only one, or the one under a usual name.
	Key string
	// EMA selects the average of the weights instead of the weights, in checkpoints of
	// PyTorch and TensorFlow.
	EMA bool
	// Drop lists patterns for names of tensors to be left out, as in path.Match, except
	// that * matches slashes too. Each must match at least one tensor.
	Drop []string
	// Rename lists REGEX=REPLACEMENT rules that rename tensors, each in turn: a Go regular
	// expression that must match a whole name, and its replacement, with $1 for the first
	// group. Each rule must match at least one name after wrappers are removed.
	Rename []string
	// Merge is the rule that merges the running statistics of several ranks or replicas;
	// empty means bn.Pooled.
	Merge bn.Rule
	// Description describes the model of a Keras file of weights alone, in the JSON of
	// to_json, or the network of a Caffe file, in the text of deploy.prototxt.
	Description []byte
	// Input is the shape of one sample, (C, H, W) for images, for a graph that leaves
	// lengths open. Lengths that the file fixes must be the same.
	Input []int
	// Inputs are the shapes of samples of several inputs of an ONNX file, by their names.
	Inputs map[string][]int
	// TensorsOnly leaves out the graph. A caller that only needs the tensors then has at
	// most one of them in memory.
	TensorsOnly bool
	// FloatQDQ computes a quantised ONNX graph in QDQ form in floats, by the standard's rule,
	// instead of in integers.
	FloatQDQ bool
	// Training reads an ONNX graph in the form for training.
	Training bool
	// Memory holds large weights of the model; nil: the heap.
	Memory *tensor.Region
}

func (o Options) rule() bn.Rule {
	if o.Merge == "" {
		return bn.Pooled
	}
	return o.Merge
}

// InMemory returns a tensor that is already in memory. NewTensor returns one that reads its
// elements on demand.
var (
	InMemory  = foreign.InMemory
	NewTensor = foreign.NewTensor
)
