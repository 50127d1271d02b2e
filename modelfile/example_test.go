package modelfile_test

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/formats"
	"github.com/bnctl/bnctl/modelfile"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/models/fit"
	"github.com/bnctl/bnctl/tensor"
)

// This example opens weights without a graph, as PyTorch saves them. The zoo has the
// matching graph, and the caller defines how pictures become its input.
func ExampleOpen() {
	folder, err := os.MkdirTemp("", "example")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(folder)
	path := filepath.Join(folder, "weights.pth")
	if err := writeWeights(path); err != nil {
		fmt.Println(err)
		return
	}
	m, err := modelfile.Open(path, modelfile.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	pictures := data.Info{Kind: "glyphs", DType: tensor.U8, Shape: []int{28, 28, 1}}
	_, err = fit.Model(m.Model, pictures)
	fmt.Println(err)
	m, err = modelfile.Open(path, modelfile.Options{Preprocess: modelfile.Preprocess{Name: "unit"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = fit.Model(m.Model, pictures)
	fmt.Println(m.Architecture, "of", m.Choice.Tensors, "tensors:", err)
	// Output:
	// preprocess: the file does not say how a picture becomes the model's input; add preprocess imagenet, unit, raw or caffe, or mean and std, or give arrays as .npy
	// mlp-bn of 12 tensors: <nil>
}

// writeWeights writes the tensors of a model of the zoo.
func writeWeights(path string) error {
	m, err := models.Build("mlp-bn", models.Options{})
	if err != nil {
		return err
	}
	if err := models.Init(m, 0); err != nil {
		return err
	}
	_, err = formats.Save(path, formats.Tensors(m))
	return err
}
