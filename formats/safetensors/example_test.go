package safetensors_test

import (
	"bytes"
	"fmt"
	"log"

	"github.com/bnctl/bnctl/formats/safetensors"
)

// A file without tensors is only a header. The elements of tensors are read by Load.
func ExampleReadFrom() {
	var b bytes.Buffer
	if err := safetensors.Write(&b, nil); err != nil {
		log.Fatal(err)
	}
	f, err := safetensors.ReadFrom(bytes.NewReader(b.Bytes()), int64(b.Len()))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(f.Format, len(f.Tensors))
	// Output: safetensors 0
}
