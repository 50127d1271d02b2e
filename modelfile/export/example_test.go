package export_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/bnctl/bnctl/formats"
	"github.com/bnctl/bnctl/modelfile/export"
	"github.com/bnctl/bnctl/models"
)

// File exports the weights of a template for PyTorch.
func ExampleFile() {
	folder, err := os.MkdirTemp("", "export")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(folder)
	m, err := models.Build("mlp-bn", models.Options{})
	if err == nil {
		err = models.Init(m, 0)
	}
	input, output := filepath.Join(folder, "model.bnm"), filepath.Join(folder, "model.pth")
	if err == nil {
		_, err = formats.SaveModel(input, m)
	}
	if err != nil {
		log.Fatal(err)
	}
	r, err := export.File(context.Background(), export.Options{Input: input, Output: output})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(r.Format, "of", r.Architecture, "with", r.Parameters, "parameters")
	// Output: torch of mlp-bn with 235530 parameters
}
