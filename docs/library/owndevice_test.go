package library_test

import (
	"context"
	"fmt"

	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/device/ref"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/modelfile"
	"github.com/bnctl/bnctl/parallel"
	"github.com/bnctl/bnctl/recipe"
	"github.com/bnctl/bnctl/train"
)

// counting is a device in this process: the reference device, which also counts the programs that it loads. A
// device that you write implements device.Device.
type counting struct {
	device.Device
	loaded int
}

func (c *counting) Load(ctx context.Context, p *graph.Program, most device.Capacity) (
	device.Executable, error) {
	c.loaded++
	return c.Device.Load(ctx, p, most)
}

func Example_ownDevice() {
	ctx := context.Background()
	src, err := data.Open(ctx, "glyphs:32", data.Options{})
	check(err)
	defer src.Close()
	m, err := modelfile.Start("mlp-bn", src.Info(), modelfile.StartOptions{})
	check(err)
	r := recipe.Default("mlp-bn")
	r.Epochs, r.Batch = 1, 16
	r.SetModel(m.Model)
	check(r.SetData(ctx, src, nil))

	d := &counting{Device: ref.New("mine")}
	defer d.Close()
	s, err := train.New(ctx, r, m.Model, train.Config{Train: src,
		Devices: []parallel.Member{{Name: "mine", Device: d}}})
	check(err)
	defer s.Close()
	_, err = s.Run(ctx)
	check(err)
	fmt.Println(d.Info().Name, "has loaded", d.loaded, "program")
	// Output:
	// mine has loaded 1 program
}
