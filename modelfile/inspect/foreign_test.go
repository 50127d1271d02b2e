package inspect_test

import (
	"testing"

	"github.com/bnctl/bnctl/modelfile/inspect"
)

// TestFaultOfTheGraph: a file with a fault in its graph is reported as sick, as package
// doctor does.
func TestFaultOfTheGraph(t *testing.T) {
	r, err := inspect.File("../../formats/onnx/testdata/hostile/training-14.onnx", inspect.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if r.Health != "sick" {
		t.Errorf("it is %s", r.Health)
	}
}
