package inspect_test

import (
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/bnctl/bnctl/modelfile/inspect"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/serialize"
)

// File describes a file of bnctl or of another program.
func ExampleFile() {
	folder, err := os.MkdirTemp("", "inspect")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(folder)
	m, err := models.Build("lenet-bn", models.Options{})
	if err == nil {
		err = models.Init(m, 0)
	}
	if err != nil {
		log.Fatal(err)
	}
	path := filepath.Join(folder, "model.bnm")
	if _, err := serialize.WriteModel(path, m); err != nil {
		log.Fatal(err)
	}
	r, err := inspect.File(path, inspect.Options{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(r.Kind, r.Architecture, "of", r.Parameters, "parameters, input", r.Input)
	// Output: template lenet-bn of 1663466 parameters, input u8[28,28,1]
}
