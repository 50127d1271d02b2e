package library_test

import (
	"context"
	"fmt"
	"os"

	"github.com/bnctl/bnctl"
	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/modelfile/quantize"
)

func Example_quantize() {
	const template, small, calibrated = "quantize.bnm", "quantize-int8.bnm", "quantize-data.bnm"
	for _, name := range []string{template, "quantize.bnc", "quantize.chain.jsonl", small, calibrated} {
		defer os.Remove(name)
	}
	trained(bnctl.TrainOptions{Model: "mlp-bn", Data: "glyphs:256", Output: template})

	// Estimate the ranges of values from the batch norms.
	ctx := context.Background()
	r, err := quantize.File(ctx, quantize.Options{Input: template, Output: small})
	check(err)
	fmt.Printf("%.1f times as small, by %s\n", float64(r.Before)/float64(r.After), r.By)

	// Measure the ranges of values on samples.
	pictures, err := data.Open(ctx, "glyphs:64", data.Options{})
	check(err)
	defer pictures.Close()
	r, err = quantize.File(ctx, quantize.Options{Input: template, Output: calibrated, Data: pictures})
	check(err)
	fmt.Println(r.Samples, "samples,", len(r.Warnings), "warnings")
	// Output:
	// 4.0 times as small, by batch norm
	// 64 samples, 0 warnings
}
