package quantize_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/bnctl/bnctl/modelfile/quantize"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/serialize"
)

// This example makes an int8 template of a model. It has no samples, so that weights alone
// decide the ranges.
func ExampleFile() {
	folder, err := os.MkdirTemp("", "quantize")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(folder)
	m, err := models.Build("lenet-bn", models.Options{})
	if err == nil {
		err = models.Init(m, 0)
	}
	input, output := filepath.Join(folder, "model.bnm"), filepath.Join(folder, "q.bnm")
	if err == nil {
		_, err = serialize.WriteModel(input, m)
	}
	if err != nil {
		log.Fatal(err)
	}
	r, err := quantize.File(context.Background(), quantize.Options{Input: input, Output: output})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%d layers by %s, %.1f times as small\n", len(r.Layers), r.By, float64(r.Before)/float64(r.After))
	// Output: 4 layers by batch norm, 4.0 times as small
}
