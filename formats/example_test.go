package formats_test

import (
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/bnctl/bnctl/formats"
	"github.com/bnctl/bnctl/tensor"
)

// Tensors are written to a file for PyTorch and read back by their names. Package modelfile
// makes models from files.
func ExampleOpen() {
	folder, err := os.MkdirTemp("", "formats")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(folder)
	path := filepath.Join(folder, "weights.pth")
	weights := []formats.Tensor{formats.InMemory("fc.weight", tensor.Of([]float32{1, 2, 3, 4}, 2, 2))}
	if _, err := formats.Save(path, weights); err != nil {
		log.Fatal(err)
	}
	f, err := formats.Open(path, formats.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer f.Close()
	t, _ := f.Tensor("fc.weight")
	values, err := t.Load()
	fmt.Println(f.Format, t.Name, values.F32(), err)
	// Output: pytorch zip fc.weight [1 2 3 4] <nil>
}
