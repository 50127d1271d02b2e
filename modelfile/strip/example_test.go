package strip_test

import (
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/bnctl/bnctl/formats"
	"github.com/bnctl/bnctl/modelfile/strip"
	"github.com/bnctl/bnctl/models"
)

// This example makes a template of weights that PyTorch saved. For a checkpoint, Removed
// lists the removed parts.
func ExampleFiles() {
	folder, err := os.MkdirTemp("", "strip")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(folder)
	m, err := models.Build("mlp-bn", models.Options{})
	if err == nil {
		err = models.Init(m, 0)
	}
	if err != nil {
		log.Fatal(err)
	}
	weights := filepath.Join(folder, "model.pth")
	if _, err := formats.Save(weights, formats.Tensors(m)); err != nil {
		log.Fatal(err)
	}
	r, err := strip.Files(strip.Options{Inputs: []string{weights}, Output: filepath.Join(folder, "model.bnm")})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(r.Architecture, "of", r.Format, "with", r.Parameters, "parameters")
	// Output: mlp-bn of pytorch zip with 235530 parameters
}
