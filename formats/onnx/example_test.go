package onnx_test

import (
	"bytes"
	"fmt"
	"log"

	"github.com/bnctl/bnctl/formats/onnx"
	"github.com/bnctl/bnctl/models"
)

// This example writes a model as ONNX and reads it back. Callers with files of any format
// use package modelfile.
func ExampleWrite() {
	m, err := models.Build("lenet-bn", models.Options{})
	if err == nil {
		err = models.Init(m, 0)
	}
	if err != nil {
		log.Fatal(err)
	}
	var b bytes.Buffer
	if err := onnx.Write(&b, m); err != nil {
		log.Fatal(err)
	}
	f, err := onnx.ReadFrom(bytes.NewReader(b.Bytes()), int64(b.Len()), onnx.Options{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(f.Format, f.Model.Summary().Parameters == m.Summary().Parameters, f.NoModel)
	// Output: onnx true <nil>
}
