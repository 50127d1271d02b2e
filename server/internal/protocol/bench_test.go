package protocol

import (
	"bytes"
	"fmt"
	"testing"
)

// BenchmarkNumbers reads the numbers of a picture of 224x224 pixels in JSON.
func BenchmarkNumbers(b *testing.B) {
	data := bytes.Repeat([]byte("123,"), 224*224*3)
	body := fmt.Appendf(nil, `{"inputs":[{"name":"x","datatype":"UINT8","shape":[1,224,224,3],"data":[%s]}]}`,
		data[:len(data)-1])
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		r, err := Read(body, -1)
		if err == nil {
			_, err = r.Inputs[0].Tensor()
		}
		if err != nil {
			b.Fatal(err)
		}
	}
}
