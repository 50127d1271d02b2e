package tensorflow_test

import (
	"fmt"
	"log"

	"github.com/bnctl/bnctl/formats/tensorflow"
)

// This example reads a checkpoint by the path of its index. Callers that accept files of
// any format use package modelfile.
func ExampleRead() {
	f, err := tensorflow.Read("testdata/cases/replicas.index", tensorflow.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer f.Close()
	fmt.Println(f.Format, len(f.Tensors))
	// Output: tensorflow bundle 6
}
