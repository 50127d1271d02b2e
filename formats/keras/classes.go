package keras

import (
	"fmt"
	"slices"
	"strings"
)

// families describes unsupported classes of layers, found by a substring of their names.
// The first match counts.
var families = []struct{ substring, subject string }{
	{"Bidirectional", "recurrent"}, {"LSTM", "recurrent"}, {"GRU", "recurrent"}, {"RNN", "recurrent"},
	{"TimeDistributed", "over a sequence"}, {"Masking", "over a sequence"},
	{"Embedding", "embedding"}, {"TextVectorization", "of words"}, {"Lookup", "of words"},
	{"Hashing", "of words"},
	{"Attention", "attention"}, {"EinsumDense", "attention"}, {"3D", "3D"},
	{"OpLambda", "an operation of TensorFlow outside of any layer"},
	{"TensorFlowOp", "an operation of TensorFlow outside of any layer"},
	{"Lambda", "code of Python, which is never run"}, {"Random", "augmentation"},
}

// describe returns the class of l with a description.
func (l *layer) describe() string {
	for _, f := range families {
		if strings.Contains(l.fileClass, f.substring) {
			return l.fileClass + ": " + f.subject
		}
	}
	return l.fileClass
}

// operations are the functions of Keras 3 that are supported in place of a layer: + - *
// between tensors, and activations that are called.
var operations = []string{"Add", "Subtract", "Multiply", "Gelu", "Mish", "Silu"}

// checkLayers rejects all layers without a counterpart at once, and then the first layer
// with an unsupported configuration.
func (n *network) checkLayers() error {
	var unknown []string
	var first error
	n.leaves("", func(path string, l *layer) {
		_, ok := kinds[l.class]
		if !ok || l.operation && !slices.Contains(operations, l.class) {
			unknown = append(unknown, fmt.Sprintf("%s (%s)", path, l.describe()))
		} else if first == nil {
			if first = l.foreign; first == nil {
				first = l.checkKeys()
			}
			if first != nil {
				first = fmt.Errorf("layer %.80q (%s): %w", path, l.fileClass, first)
			}
		}
	})
	if len(unknown) == 0 {
		return first
	}
	more := ""
	if len(unknown) > 10 {
		unknown, more = unknown[:10], fmt.Sprintf(" and %d more", len(unknown)-10)
	}
	return fmt.Errorf("layers that are not supported: %s%s", strings.Join(unknown, ", "), more)
}
