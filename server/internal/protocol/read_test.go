package protocol

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/tensor"
)

// withInput returns a request with one input "x" with a datatype and shape. rest has its other fields.
func withInput(datatype, shape, rest string) string {
	return fmt.Sprintf(`{"inputs":[{"name":"x","datatype":%q,"shape":%s,%s}]}`, datatype, shape, rest)
}

func TestNumbers(t *testing.T) {
	for _, c := range []struct{ datatype, shape, data string }{
		{"FP32", "[2,3]", "[1,2,3,4,5,6.5]"},
		{"FP32", "[2,3]", " [ [1, 2,3] ,\n[4,5,65e-1]]"},
		{"FP32", "[1,2,1,3]", "[[[[1,2,3]],[[4,5,6.5]]]]"},
	} {
		r, err := Read([]byte(withInput(c.datatype, c.shape, `"data":`+c.data)), -1)
		if err != nil {
			t.Fatal(err)
		}
		got, err := r.Inputs[0].Tensor()
		if err != nil || !slices.Equal(got.F32(), []float32{1, 2, 3, 4, 5, 6.5}) {
			t.Errorf("%v: %v, %v", c, got, err)
		}
	}
}

// TestNumbersAreRoundedOnce checks that an FP32 element is the float32 nearest to the decimal number in the
// text. A rounding to float64 in between could give another one.
func TestNumbersAreRoundedOnce(t *testing.T) {
	// The number is above the middle between 1 and the next float32, but so little that a float64 cannot
	// represent the difference. Rounding to float64 first would give 1.
	r, err := Read([]byte(withInput("FP32", "[1]", `"data":[1.00000005960464477540]`)), -1)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := r.Inputs[0].Tensor(); err != nil || got.F32()[0] != 1.0000001 {
		t.Errorf("%v, %v", got.F32(), err)
	}
}

func TestBinary(t *testing.T) {
	head := `{"id":"7","parameters":{"binary_data_output":true,"timeout":1500},` +
		`"inputs":[{"name":"a","datatype":"UINT8","shape":[2,1],"parameters":{"binary_data_size":2}},` +
		`{"name":"b","datatype":"FP32","shape":[1],"parameters":{"binary_data_size":4}}],` +
		`"outputs":[{"name":"y","parameters":{"classification":3,"binary_data":false}}]}`
	r, err := Read([]byte(head+"\x01\x02\x00\x00\x80\x3f"), len(head))
	if err != nil {
		t.Fatal(err)
	}
	a, errA := r.Inputs[0].Tensor()
	b, errB := r.Inputs[1].Tensor()
	if err := errors.Join(errA, errB); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(a.Bytes, []byte{1, 2}) || !bytes.Equal(b.Bytes, []byte{0, 0, 0x80, 0x3f}) {
		t.Errorf("inputs %v, %v", a.Bytes, b.Bytes)
	}
	if o := r.Outputs[0]; r.ID != "7" || !r.Binary || r.Timeout != 1500_000 || o.Classes != 3 || *o.Binary {
		t.Errorf("%+v", r)
	}
}

func TestRefused(t *testing.T) {
	for _, c := range []struct {
		kind       Kind
		text, want string
		tail       string
	}{
		{Invalid, "", "not JSON", ""},
		{Invalid, "{} {}", "not JSON", ""},
		{Invalid, `{"inputs":{}}`, "not JSON", ""},
		{Invalid, withInput("UINT8", "[1]", `"data":[256]`), "256", ""},
		{Invalid, withInput("UINT8", "[1]", `"data":[-1]`), "-1", ""},
		{Invalid, withInput("UINT8", "[1]", `"data":[1.5]`), "1.5", ""},
		{Invalid, withInput("UINT8", "[1]", `"data":["]"]`), "whole number", ""},
		{Invalid, withInput("UINT8", "[1]", `"data":[{"a":[1]}]`), "whole number", ""},
		{Invalid, withInput("UINT8", "[1]", `"data":null`), "not an array", ""},
		{Invalid, withInput("UINT8", "[1]", `"data":1`), "not an array", ""},
		{Invalid, withInput("UINT8", "[2]", `"data":[1]`), "1 numbers", ""},
		{Invalid, withInput("UINT8", "[1]", `"data":[1,2]`), "more numbers", ""},
		{Invalid, withInput("UINT8", "[2,2]", `"data":[[1,2,3],[4]]`), "holds 3", ""},
		{Invalid, withInput("UINT8", "[2,2]", `"data":[1,[2,3],4]`), "depth 2", ""},
		{Invalid, withInput("FP32", "[1]", `"data":[1e99]`), "1e99", ""},
		{Invalid, withInput("FP32", "[1]", `"data":[true]`), "true", ""},
		{Invalid, withInput("FP64", "[1]", `"data":[1]`), "bytes only", ""},
		{Invalid, withInput("INT4", "[1]", `"data":[1]`), "does not exist", ""},
		{Invalid, withInput("FP32", "[-1]", `"data":[1]`), "negative", ""},
		{Invalid, withInput("FP32", "[4611686018427387904,8]", `"data":[1]`), "", ""},
		{Invalid, withInput("FP32", "[1000000000000]", `"data":[1]`), "characters of data", ""},
		{Invalid, withInput("UINT8", "[2]", `"parameters":{"binary_data_size":3}`), "2 bytes are left", "ab"},
		{Invalid, withInput("UINT8", "[2]", `"parameters":{"binary_data_size":1}`), "belong to no input", "ab"},
		{Invalid, withInput("UINT8", "[3]", `"parameters":{"binary_data_size":2}`), "2 bytes", "ab"},
		{Invalid, withInput("UINT8", "[2]", `"parameters":{"binary_data_size":-1}`), "-1", "ab"},
		{Invalid, withInput("UINT8", "[2]", `"data":[1,2],"parameters":{"binary_data_size":2}`), "one of them", "ab"},
		{Invalid, withInput("UINT8", "[2]", `"parameters":{}`), "neither", ""},
		{Unimplemented, withInput("UINT8", "[2]", `"parameters":{"shared_memory_region":"r"}`), "shared memory", ""},
		{Unimplemented, `{"parameters":{"sequence_id":5}}`, "sequences", ""},
	} {
		_, err := tensors([]byte(c.text+c.tail), len(c.text))
		var r *Refusal
		if !errors.As(err, &r) || r.Kind != c.kind || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %d and %q", c.text, err, c.kind, c.want)
		}
	}
	if _, err := Read([]byte("{}"), 3); err == nil {
		t.Error("more JSON than there is body")
	}
}

// tensors reads a request, and returns all its inputs as tensors.
func tensors(data []byte, jsonBytes int) (all []tensor.Tensor, err error) {
	r, err := Read(data, jsonBytes)
	if err != nil {
		return nil, err
	}
	for i := range r.Inputs {
		t, err := r.Inputs[i].Tensor()
		if err != nil {
			return nil, err
		}
		all = append(all, t)
	}
	return all, nil
}

// FuzzRead checks that any body is either refused, or yields tensors that have the sizes of their shapes. The
// memory must be in proportion to the size of the body.
func FuzzRead(f *testing.F) {
	f.Add([]byte(withInput("FP32", "[2,1]", `"data":[[1],[2]]`)), -1)
	f.Add([]byte(withInput("UINT8", "[2]", `"data":[1,2]`)), -1)
	head := withInput("UINT8", "[2]", `"parameters":{"binary_data_size":2}`)
	f.Add([]byte(head+"ab"), len(head))
	f.Fuzz(func(t *testing.T, data []byte, jsonBytes int) {
		all, err := tensors(data, jsonBytes)
		var r *Refusal
		if err != nil && !errors.As(err, &r) {
			t.Fatalf("%v is no refusal", err)
		}
		total := 0
		for _, x := range all {
			size, err := tensor.Size(x.DType, x.Shape)
			if err != nil || size != len(x.Bytes) {
				t.Fatalf("%v has %d bytes, %v", x.Shape, len(x.Bytes), err)
			}
			total += size
		}
		if total > 8*len(data) {
			t.Fatalf("%d bytes of tensors from %d", total, len(data))
		}
	})
}
