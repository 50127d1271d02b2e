package library_test

import (
	"context"
	"fmt"

	"github.com/bnctl/bnctl"
	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/tensor"
)

// halves is a data source of grey pictures of 28x28 pixels, which are bright on the left or on the right.
type halves int

func (n halves) Info() data.Info {
	return data.Info{Kind: "halves", Len: int(n), DType: tensor.U8, Shape: []int{28, 28, 1},
		Labelled: true, Classes: []string{"left", "right"}}
}

func (n halves) Sample(_ context.Context, i int) (tensor.Tensor, error) {
	x := tensor.New(tensor.U8, 28, 28, 1)
	for p := range x.U8() {
		if (p%28 >= 14) == (i%2 == 1) {
			x.U8()[p] = uint8(100 + i%100)
		}
	}
	return x, nil
}

func (n halves) Label(_ context.Context, i int) ([]int32, error) { return []int32{int32(i % 2)}, nil }
func (n halves) Name(i int) string                               { return fmt.Sprint("picture ", i) }
func (n halves) Fingerprint(context.Context) (string, error) {
	return fmt.Sprint("halves ", int(n)), nil
}
func (n halves) Close() error { return nil }

func Example_ownData() {
	ctx := context.Background()
	run, err := bnctl.Open(ctx, bnctl.TrainOptions{Model: "mlp-bn", Source: halves(256)})
	check(err)
	defer run.Close()
	m, err := run.Train(ctx)
	check(err)
	fmt.Println(m.Architecture, m.Labels)
	// Output:
	// mlp-bn [left right]
}
