package remote_test

import (
	"context"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/device/ref"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// partial is a provider with devices that accept large tensors only as parts of files, or
// never as parts of files.
type partial struct {
	ref.Provider
	parts bool
}

func (p partial) Open(ctx context.Context, id string, o device.Options) (device.Device, error) {
	d, err := p.Provider.Open(ctx, id, o)
	return partialDevice{d, p.parts}, err
}

type partialDevice struct {
	device.Device
	parts bool
}

func (d partialDevice) Load(ctx context.Context, p *graph.Program, c device.Capacity) (
	device.Executable, error) {
	x, err := d.Device.Load(ctx, p, c)
	return partialExecutable{x, d.parts}, err
}

type partialExecutable struct {
	device.Executable
	parts bool
}

func (x partialExecutable) Write(ctx context.Context, name string, t tensor.Tensor) error {
	file, _ := tensor.MappedAt(t.Bytes)
	switch {
	case x.parts && file == nil:
		return device.Errorf("", "", device.Invalid, "%v is no part of a file", t)
	case !x.parts && file != nil:
		return device.Errorf("", "", device.Unavailable, "%v is part of a file", t)
	}
	return x.Executable.Write(ctx, name, t)
}

func (x partialExecutable) WriteAll(ctx context.Context, names []string,
	state map[string]tensor.Tensor) error {
	return device.WriteEach(ctx, x, names, state)
}

// TestWriteOfAFile writes a state tensor that is part of a mapped file. Plugins that can
// read the file do so; others receive the bytes.
func TestWriteOfAFile(t *testing.T) {
	const rows, columns, front = 128, 256, 4096
	p, err := graph.ParseProgram([]byte("bnctl program 1\nprogram \"p\"\n\nstate w f32[128,256] weight zeros\n" +
		"func predict(x rows f32[256]) {\n  y = dense(x, @w)\n  return y: rows = y\n}\n"))
	if err != nil {
		t.Fatal(err)
	}
	want := tensor.New(tensor.F32, rows, columns)
	r := rand.New(rand.NewPCG(1, 2))
	for i := range want.F32() {
		want.F32()[i] = r.Float32()
	}
	path := filepath.Join(t.TempDir(), "weights")
	if err := os.WriteFile(path, append(make([]byte, front), want.Bytes...), 0o600); err != nil {
		t.Fatal(err)
	}
	file, err := tensor.Map(path)
	if err != nil {
		t.Fatal(err)
	}
	w, err := tensor.FromBytes(tensor.F32, want.Shape, file.Bytes[front:])
	if err != nil {
		t.Fatal(err)
	}
	for _, role := range []string{"parts", "noparts", "ref", "cpu"} {
		if role == "parts" && runtime.GOOS != "linux" {
			continue // on this system a process cannot open the files of another one
		}
		for _, level := range levels {
			d := open(t, start(t, role, level))
			x := load(t, d, p)
			if err := x.Write(context.Background(), "w", w); err != nil {
				t.Errorf("%s at %s: %v", role, level, err)
				continue
			}
			if role == "cpu" && level == levels[len(levels)-1] {
				if err := file.Close(); err != nil { // the plugin has opened the file
					t.Error(err)
				}
			}
			got, err := x.Read(context.Background(), "w")
			if err != nil || !tensor.Equal(got, want) {
				t.Errorf("%s at %s: Read returns other weights than were written: %v", role, level, err)
			}
		}
	}
}
