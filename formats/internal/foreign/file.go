package foreign

import (
	"errors"
	"io"

	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/tensor"
)

// File is the content of a foreign file before an architecture is applied. Close it when
// its tensors are no longer needed.
type File struct {
	// Format names the format and its variant: "pytorch zip", "keras h5".
	Format string
	// Tensors are the model's tensors, in the file's order, with the file's names and
	// types. Tensors that only training needs are not included.
	Tensors []Tensor
	// Model is the graph with its weights if the format has a graph, otherwise nil.
	Model *models.Model
	// NoModel is the reason why Model is nil although the file describes a graph: the part
	// of the graph that has no counterpart. The tensors are usable all the same.
	NoModel error
	// Norms are the batch norms of the graph that the file describes, if any, whether Model
	// has them or not.
	Norms []BatchNorm
	// Labels are the names of the classes from the file's metadata; nil if it has no
	// labels.
	Labels []string
	// Marks lists Tensors that are not weights, and their purpose.
	Marks map[string]Mark
	// Key is the place of the tensors in a file with several places for tensors:
	// "state_dict". It is empty if the tensors are the whole file.
	Key string
	// Keys are the other places that could have been chosen.
	Keys []string
	// Wrappers are the layers around the model that were opened or stripped,
	// outermost first: "state_dict", "module.".
	Wrappers []string
	// Counters are single values stored with the tensors: epoch, step, accuracy.
	Counters []Counter
	// Left lists contents of the file that are not in Tensors.
	Left []Group
	// FileName is the name of the file. For some programs it contains the variant of the
	// network.
	FileName string
	// Eps is the eps of batch norms in the program that wrote the file, if it differs from
	// the architecture's; otherwise 0.
	Eps float64
	// Findings are remarks for the person who looks at the file.
	Findings []Finding

	// Quantised are the layers of a quantised graph.
	Quantised []QuantisedLayer

	// Memory holds large weights of the model; nil: the heap.
	Memory *tensor.Region

	closers []io.Closer
}

// Mark is the purpose of a tensor of a graph that is not a weight.
type Mark int

// The marks. A tensor marked NextToWeights is useful only together with weights: the scale
// and the zero point of a quantised weight, or a computed part of a batch norm.
const (
	Computed      Mark = iota + 1 // computed from other tensors of the file
	Setting                       // setting of an operator: axes, a shape, the scales of a resize
	NextToWeights                 // useful only together with the weights
)

// Counter is a single value stored with the tensors.
type Counter struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// QuantisedLayer is a layer of a quantised graph. It is computed in bytes, or in floats for a reason.
type QuantisedLayer struct {
	Name   string `json:"name"`
	Op     string `json:"op"` // the file's operator
	Bytes  bool   `json:"bytes"`
	Reason string `json:"reason,omitempty"`
}

// Group is a number of tensors that were left out together.
type Group struct {
	Name   string `json:"name"`   // place of the tensors: "optimizer", "state_dict_ema"
	Reason string `json:"reason"` // "optimizer state", "average of the weights"
	// Advice is how to include them all the same, with options in braces as in package
	// problem; "" if it is impossible.
	Advice  string `json:"advice,omitempty"`
	Tensors int    `json:"tensors"`
	Bytes   int64  `json:"bytes"`
}

// Finding is a remark about a part of a file.
type Finding struct {
	Where  string `json:"where"` // a tensor, a member or a key; empty for the whole file
	Text   string `json:"text"`
	Advice string `json:"advice,omitempty"`
	// Fault means that the file cannot be used as it is.
	Fault bool `json:"fault,omitempty"`
	// Warning means that the file can be used, and that its numbers are unusual.
	Warning bool `json:"warning,omitempty"`
}

// Find adds a finding.
func (f *File) Find(where, text, advice string) {
	f.Findings = append(f.Findings, Finding{Where: where, Text: text, Advice: advice})
}

// Count adds a counter.
func (f *File) Count(name, value string) {
	f.Counters = append(f.Counters, Counter{name, value})
}

// Owns makes Close of f close c too.
func (f *File) Owns(c io.Closer) { f.closers = append(f.closers, c) }

// Close closes the files that the tensors are read from.
func (f *File) Close() error {
	var errs []error
	for _, c := range f.closers {
		errs = append(errs, c.Close())
	}
	f.closers = nil
	return errors.Join(errs...)
}

// Tensor returns the tensor with that name.
func (f *File) Tensor(name string) (Tensor, bool) {
	for _, t := range f.Tensors {
		if t.Name == name {
			return t, true
		}
	}
	return Tensor{}, false
}
