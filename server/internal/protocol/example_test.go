package protocol_test

import (
	"fmt"
	"log"

	"github.com/bnctl/bnctl/server/internal/protocol"
	"github.com/bnctl/bnctl/tensor"
)

// Read a request in JSON, and write an answer in JSON.
func ExampleRead() {
	r, err := protocol.Read([]byte(`{"inputs": [
		{"name": "x", "datatype": "FP32", "shape": [1, 2], "data": [1, 2]}]}`), -1)
	if err != nil {
		log.Fatal(err)
	}
	x, err := r.Inputs[0].Tensor()
	if err != nil {
		log.Fatal(err)
	}
	a := protocol.Answer{Model: "twice", Version: "1", Outputs: []*protocol.Tensor{{Name: "y", Datatype: "FP32",
		Shape: x.Shape, Values: tensor.Of([]float32{2 * x.F32()[0], 2 * x.F32()[1]}, 1, 2)}}}
	head, _, err := a.Write()
	fmt.Printf("%s %v\n", head, err)
	// Output: {"model_name":"twice","model_version":"1","outputs":[{"name":"y","datatype":"FP32","shape":[1,2],"data":[2,4]}]} <nil>
}
