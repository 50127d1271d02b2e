package keras_test

import (
	"fmt"
	"log"

	"github.com/bnctl/bnctl/formats/keras"
)

// This example reads a whole model of Keras. A file of weights alone needs a Description.
// Callers that accept files of any format use package modelfile.
func ExampleRead() {
	f, err := keras.Read("testdata/first.h5", keras.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer f.Close()
	fmt.Println(f.Format, len(f.Tensors), f.NoModel)
	// Output: keras h5 7 <nil>
}
