package onnx

import (
	"strings"
	"testing"
)

// The refusal of a pool over three axes names the reason: kernel, strides or pads.
func TestPoolOfVolumeRefused(t *testing.T) {
	for want, attrs := range map[string]struct{ kernel, strides, pads []int64 }{
		"a kernel of [2 2 1], strides of [1 1 1] and pads of [0 0 0 0 0 0]": {
			[]int64{2, 2, 1}, []int64{1, 1, 1}, make([]int64, 6)},
		"a kernel of [1 2 1], strides of [2 1 1] and pads of [0 0 0 0 0 0]": {
			[]int64{1, 2, 1}, []int64{2, 1, 1}, make([]int64, 6)},
		"a kernel of [2 1 2], strides of [1 1 1] and pads of [1 0 0 0 0 0]": {
			[]int64{2, 1, 2}, []int64{1, 1, 1}, []int64{1, 0, 0, 0, 0, 0}},
	} {
		m := modelOf(13, 0, []int64{2, 4, 4, 4}, nil, op("MaxPool", "x", "y", list64("kernel_shape", attrs.kernel...),
			list64("strides", attrs.strides...), list64("pads", attrs.pads...)))
		if got := became(readModel(t, m)); !strings.Contains(got, want) {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
