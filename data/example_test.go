package data_test

import (
	"context"
	"fmt"
	"io"

	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/data/augmentation"
)

// A Loader returns an epoch of shuffled, augmented batches.
func Example() {
	src, err := data.Open(context.Background(), "glyphs:300", data.Options{Split: data.Train})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer src.Close()
	loader, err := data.NewLoader(context.Background(), src, data.Plan{
		Batch: 128, Shuffle: true, Epochs: 1,
		Transform: data.Transform{Height: 32, Width: 32, Augment: augmentation.CIFAR()},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer loader.Close()
	for {
		batch, err := loader.Next()
		if err == io.EOF {
			return
		}
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(batch.Position, batch.X, batch.Labels)
		batch.Release()
	}
	// Output:
	// {0 0} u8[128,32,32,1] i32[128]
	// {0 1} u8[128,32,32,1] i32[128]
	// {0 2} u8[44,32,32,1] i32[44]
}

// Describe returns the statistics of a source.
func ExampleDescribe() {
	src, err := data.Open(context.Background(), "glyphs@test", data.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer src.Close()
	s, err := data.Describe(context.Background(), src)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(src.Info().Len, "pictures of", s.Sizes())
	fmt.Printf("mean %.1f, deviation %.1f\n", s.Mean[0], s.Std[0])
	// Output:
	// 1000 pictures of 28x28
	// mean 50.6, deviation 54.3
}
