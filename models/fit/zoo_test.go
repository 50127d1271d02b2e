package fit

import (
	"testing"

	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/tensor"
)

// pictures describes pictures of a shape, or of several sizes.
func pictures(shape ...int) data.Info {
	return data.Info{Kind: "folder", Len: 4, DType: tensor.U8, Shape: shape, Labelled: true, Classes: []string{"a", "b"}}
}

// TestZooSize checks that a classifier keeps its default size for any pictures, and that a
// network with a class for each pixel gets their size if it supports it.
func TestZooSize(t *testing.T) {
	for _, c := range []struct {
		model string
		shape []int
		given models.Size
		want  models.Size
	}{
		{"resnet18", []int{3000, 4000, 3}, models.Size{}, models.Size{Height: 224, Width: 224, Channels: 3}},
		{"resnet18", nil, models.Size{}, models.Size{Height: 224, Width: 224, Channels: 3}},
		{"resnet18", []int{32, 32, 3}, models.Size{}, models.Size{Height: 224, Width: 224, Channels: 3}},
		{"resnet18", []int{28, 28, 1}, models.Size{}, models.Size{Height: 224, Width: 224, Channels: 1}},
		{"resnet18", []int{28, 28, 1}, models.Size{Height: 64, Width: 48}, models.Size{Height: 64, Width: 48, Channels: 1}},
		{"resnet18", nil, models.Size{Height: 64, Width: 48}, models.Size{Height: 64, Width: 48, Channels: 3}},
		{"lenet-bn", []int{30, 40, 3}, models.Size{}, models.Size{Height: 28, Width: 28, Channels: 3}},
		{"lenet-bn", nil, models.Size{}, models.Size{Height: 28, Width: 28, Channels: 3}},
		{"unet-bn", []int{96, 128, 3}, models.Size{}, models.Size{Height: 96, Width: 128, Channels: 3}},
		{"unet-bn", nil, models.Size{}, models.Size{Height: 64, Width: 64, Channels: 3}},
		{"unet-bn", []int{7, 7, 3}, models.Size{}, models.Size{Height: 64, Width: 64, Channels: 3}},
		{"fcn-resnet50", []int{3000, 4000, 3}, models.Size{}, models.Size{Height: 256, Width: 256, Channels: 3}},
		{"fcn-resnet50", []int{520, 520, 3}, models.Size{}, models.Size{Height: 520, Width: 520, Channels: 3}},
		{"unet-bn", []int{96, 128, 3}, models.Size{Height: 32, Width: 32}, models.Size{Height: 32, Width: 32, Channels: 3}},
	} {
		m, err := Zoo(c.model, pictures(c.shape...), models.Options{Input: c.given})
		if err != nil {
			t.Fatal(err)
		}
		if got, ok := m.Size(); !ok || got != c.want {
			t.Errorf("%s for pictures %v, given %v: %v, want %v", c.model, c.shape, c.given, got, c.want)
		}
	}
}
