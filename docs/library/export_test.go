package library_test

import (
	"context"
	"fmt"
	"os"

	"github.com/bnctl/bnctl"
	"github.com/bnctl/bnctl/modelfile"
	"github.com/bnctl/bnctl/modelfile/formats"
)

func Example_export() {
	m, err := bnctl.Train(context.Background(), bnctl.TrainOptions{Model: "mlp-bn", Data: "glyphs:256"})
	check(err)
	folded, norms, err := formats.Fold(m) // batch norms become part of the layer before them
	check(err)
	const path = "model.onnx"
	defer os.Remove(path)
	_, err = formats.Export(path, folded, formats.ExportOptions{})
	check(err)

	again, err := modelfile.Open(path, modelfile.Options{})
	check(err)
	fmt.Println(norms.Into, "are gone;", again.Choice.Format, "with", again.Summary().Parameters, "parameters")
	// Output:
	// [bn1 bn2] are gone; onnx with 235146 parameters
}
