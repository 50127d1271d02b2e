package quantize

import (
	"cmp"
	"fmt"

	"github.com/bnctl/bnctl/graph"
)

// Warning reports a node that loses much accuracy in bytes.
type Warning struct {
	Layer  string `json:"layer"`
	Text   string `json:"text"`
	Advice string `json:"advice"`
}

// noisy is the signal-to-noise ratio, in decibels, below which a layer is reported.
const noisy = 10

// keepIt is the advice of all warnings.
const keepIt = "leave it float32 with {keep}"

// warn adds a warning about a node.
func (b *builder) warn(n *graph.Node, text string) {
	b.warned = append(b.warned, Warning{b.From.NodeName(n), text, keepIt})
}

// noisyLayers returns the warnings about noisy layers.
func noisyLayers(layers []Layer) (list []Warning) {
	for _, l := range layers {
		if ratio := cmp.Or(l.Noise, l.Expected); !l.Float && ratio != 0 && ratio < noisy {
			text := fmt.Sprintf("signal to noise of the result is %.1f dB", ratio)
			list = append(list, Warning{l.Name, text, keepIt})
		}
	}
	return list
}
