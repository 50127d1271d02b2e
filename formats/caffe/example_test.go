package caffe_test

import (
	"fmt"
	"log"

	"github.com/bnctl/bnctl/formats/caffe"
)

// This example reads a network of Caffe with its weights. Callers that accept files of any
// format use package modelfile.
func ExampleRead() {
	f, err := caffe.Read("testdata/cases/network.caffemodel", caffe.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer f.Close()
	fmt.Println(f.Format, len(f.Tensors), f.NoModel)
	// Output: caffe 9 <nil>
}
