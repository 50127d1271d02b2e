package foreign

import (
	"fmt"
	"testing"

	"github.com/bnctl/bnctl/tensor"
)

func TestChannelsFirst(t *testing.T) {
	ramp := tensor.New(tensor.F32, 1, 2, 2, 3)
	for i := range ramp.F32() {
		ramp.F32()[i] = float32(i)
	}
	for _, c := range []struct {
		name  string
		shape []int
		want  string
	}{
		{"conv/kernel", []int{1, 2, 2, 3}, "conv/kernel f32[3,2,1,2] [0 6 3 9 1 7 4 10 2 8 5 11]"},
		{"c/depthwise_kernel", []int{1, 2, 2, 3}, "c/depthwise_kernel f32[6,1,1,2] [0 6 1 7 2 8 3 9 4 10 5 11]"},
		{"line.kernel", []int{2, 2, 3}, "line.kernel f32[3,2,1,2] [0 6 3 9 1 7 4 10 2 8 5 11]"},
		{"dense/kernel", []int{4, 3}, "dense/kernel f32[3,4] [0 3 6 9 1 4 7 10 2 5 8 11]"},
		{"bn/gamma", []int{12}, "bn/gamma f32[12] [0 1 2 3 4 5 6 7 8 9 10 11]"},
	} {
		got := ChannelsFirst([]Tensor{InMemory(c.name, ramp.Reshape(c.shape...))})[0]
		v, err := got.Load()
		if s := fmt.Sprint(got, " ", v.F32()); err != nil || s != c.want {
			t.Errorf("got %s, %v, want %s", s, err, c.want)
		}
	}
}
