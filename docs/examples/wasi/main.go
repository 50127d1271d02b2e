// Wasi predicts a picture: wasi MODEL PICTURE [COUNT]. It prints the best classes and the SHA-256 of the
// outputs. With COUNT it predicts COUNT times, and prints the median time to stderr. The environment variable
// KERNELS names the kernel class. Build the program with GOOS=wasip1 GOARCH=wasm for a WebAssembly runtime,
// or for any other system.
package main

import (
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"slices"
	"strconv"
	"time"

	"github.com/bnctl/bnctl/inprocess"
)

func main() {
	count, err := 1, error(nil)
	if len(os.Args) == 4 {
		count, err = strconv.Atoi(os.Args[3])
	}
	if len(os.Args) < 3 || len(os.Args) > 4 || err != nil || count < 1 {
		fmt.Fprintln(os.Stderr, "usage: wasi MODEL PICTURE [COUNT]")
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Args[2], count); err != nil {
		fmt.Fprintln(os.Stderr, "wasi:", err)
		os.Exit(1)
	}
}

// run predicts the picture count times. It reads the model into memory, because a WebAssembly module cannot
// map files.
func run(model, picture string, count int) error {
	template, err := os.ReadFile(model)
	if err != nil {
		return err
	}
	p, err := inprocess.Load(template, inprocess.Options{Batch: 1, Kernels: os.Getenv("KERNELS")})
	if err != nil {
		return fmt.Errorf("%s: %w", model, err)
	}
	defer p.Close()
	file, err := os.ReadFile(picture)
	if err != nil {
		return err
	}
	var times []time.Duration
	var answers []inprocess.Prediction
	for range count {
		began := time.Now()
		if answers, err = p.Predict(context.Background(), inprocess.Image{File: file}); err != nil {
			return fmt.Errorf("%s: %w", picture, err)
		}
		times = append(times, time.Since(began))
	}
	if count > 1 {
		slices.Sort(times)
		fmt.Fprintln(os.Stderr, times[count/2])
	}
	return show(answers[0])
}

// show prints the classes of a prediction and the SHA-256 of its outputs.
func show(answer inprocess.Prediction) error {
	for _, c := range answer.Classes {
		fmt.Printf("%-24q %.4f\n", c.Label, c.P) // quoted: a label may have control characters
	}
	sum := sha256.New()
	for _, out := range answer.Outputs {
		sum.Write(out.Bytes)
	}
	_, err := fmt.Printf("%x\n", sum.Sum(nil))
	return err
}
