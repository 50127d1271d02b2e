package draft_test

import (
	"fmt"

	"github.com/bnctl/bnctl/formats"
	"github.com/bnctl/bnctl/modelfile/draft"
	"github.com/bnctl/bnctl/tensor"
)

// This example drafts the graph of a state dict with one dense layer. The draft is
// complete.
func ExampleOf() {
	f := &formats.File{Tensors: []formats.Tensor{
		formats.InMemory("fc.weight", tensor.New(tensor.F32, 3, 8)),
		formats.InMemory("fc.bias", tensor.New(tensor.F32, 3))}}
	d, err := draft.Of(f, "net", nil)
	if err != nil {
		panic(err)
	}
	fmt.Println(d.Layers, "layer,", d.Open, "open")
	// Output:
	// 1 layer, 0 open
}
