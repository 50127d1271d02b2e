package library_test

import (
	"context"
	"fmt"
	"os"

	"github.com/bnctl/bnctl"
	"github.com/bnctl/bnctl/formats"
	"github.com/bnctl/bnctl/modelfile"
	"github.com/bnctl/bnctl/modelfile/export"
)

func Example_export() {
	const template, onnx, weights = "export.bnm", "export.onnx", "export.safetensors"
	for _, name := range []string{template, "export.bnc", "export.chain.jsonl", onnx, weights} {
		defer os.Remove(name)
	}
	m := trained(bnctl.TrainOptions{Model: "mlp-bn", Data: "glyphs:256", Output: template})

	// Export a file: batch norms become part of the layer before them, and both models are run and compared.
	r, err := export.File(context.Background(), export.Options{Input: template, Output: onnx, FoldBN: true})
	check(err)
	again, err := modelfile.Open(onnx, modelfile.Options{})
	check(err)
	fmt.Println(r.Folded, "are gone;", again.Choice.Format, "with", again.Summary().Parameters, "parameters")

	// Fold a model in memory.
	folded, _, err := formats.Fold(m)
	check(err)
	_, err = formats.Export(weights, folded, formats.ExportOptions{})
	check(err)
	// Output:
	// [bn1 bn2] are gone; onnx with 235146 parameters
}
