package cuda

import (
	"errors"
	"fmt"
	"math"
	"os"
	"time"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/plugins/cuda/internal/cu"
	"github.com/bnctl/bnctl/plugins/gpu"
)

// driver adapts a context to package gpu.
type driver struct {
	x      *cu.Context
	graphs bool // launches are recorded as CUDA graphs
	words  *[cu.MostArgs]uint64
}

// graphsKey is the environment variable that turns CUDA graphs off.
const graphsKey = "BNCTL_CUDA_GRAPHS"

// openDriver creates a context on the GPU with this UUID.
func openDriver(uuid string, libraries ...string) (gpu.Driver, error) {
	if isPart(uuid) {
		if err := cu.Show(uuid); err != nil {
			return nil, err
		}
	}
	c, err := cu.OpenCUDA(libraries...)
	if err != nil {
		return nil, err
	}
	x, err := c.Open(uuid, cu.Module{PTX: gpu.MMA80PTX, From: 80},
		cu.Module{PTX: gpu.MMA75PTX, From: 75, Below: 80}, cu.Module{PTX: gpu.DotPTX, From: 61},
		cu.Module{PTX: gpu.PTX})
	if err != nil {
		return nil, err
	}
	return driver{x, x.HasGraphs() && os.Getenv(graphsKey) != "off", new([cu.MostArgs]uint64)}, nil
}

// kind adds the kind of package device to an error of the driver. After any error other than a lack of
// memory, the context is unusable, and everything in it is lost.
func kind(err error) error {
	var e *cu.Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &e) && e.Code == cu.OutOfMemory:
		return device.Errorf("", "", device.OutOfMemory, "%w", err)
	}
	return device.Errorf("", "", device.Lost, "%w", err)
}

func (d driver) Alloc(bytes int) (gpu.Buffer, error) {
	b, err := d.x.Alloc(bytes)
	var e *cu.Error
	if errors.As(err, &e) && e.Code == cu.OutOfMemory {
		free, _ := d.x.Memory()
		return 0, device.Errorf("", "", device.OutOfMemory, "want a buffer of %d MiB, %d MiB are free: %w",
			bytes>>20, free>>20, err)
	}
	return gpu.Buffer(b), kind(err)
}

func (d driver) Free(b gpu.Buffer) error { return kind(d.x.Free(uint64(b))) }

func (d driver) Write(to gpu.Buffer, at int, data []byte) error {
	return kind(d.x.Write(uint64(to)+uint64(at), data))
}

func (d driver) Read(list ...gpu.Transfer) func() error {
	transfers := make([]cu.Transfer, len(list))
	for i, t := range list {
		transfers[i] = cu.Transfer{Data: t.Data, From: uint64(t.From) + uint64(t.At)}
	}
	wait, err := d.x.Read(transfers)
	return func() error {
		if err != nil {
			return kind(err)
		}
		return kind(wait())
	}
}

func (d driver) Copy(to, from gpu.Buffer, n int) error {
	return kind(d.x.Copy(uint64(to), uint64(from), n))
}

func (d driver) Launch(kernel string, groups [2]int, args []any) error {
	l := cu.KernelLaunch{Name: kernel, Groups: groups, Threads: gpu.Threads,
		Args: appendWords(d.words[:0], args)}
	if err := d.x.Launch(&l); err != nil {
		return kind(fmt.Errorf("%s: %w", kernel, err))
	}
	return nil
}

// asKernel converts a launch to the form of package cu.
func asKernel(l gpu.Launch) cu.KernelLaunch {
	return cu.KernelLaunch{Name: l.Kernel, Groups: l.Groups, Threads: gpu.Threads, Args: words(l.Args)}
}

// leastRecorded is the number of launches from which on a graph is worthwhile.
const leastRecorded = 3

// Record makes a graph of launches when they run for the second time: making one costs more than launching
// them.
func (d driver) Record(launches []gpu.Launch, ran int) (gpu.Recording, error) {
	if !d.graphs || ran == 0 || len(launches) < leastRecorded {
		return 0, nil
	}
	list := make([]cu.KernelLaunch, len(launches))
	for i, l := range launches {
		list[i] = asKernel(l)
	}
	g, err := d.x.Graph(list)
	return gpu.Recording(g), kind(err)
}

func (d driver) Replay(r gpu.Recording) error { return kind(d.x.LaunchGraph(uintptr(r))) }

func (d driver) Forget(r gpu.Recording) error { return kind(d.x.FreeGraph(uintptr(r))) }

func (d driver) Has(kernel string) bool { return d.x.Has(kernel) }

// words returns the bits of the arguments, one word for each.
func words(args []any) []uint64 { return appendWords(make([]uint64, 0, len(args)), args) }

func appendWords(w []uint64, args []any) []uint64 {
	for i, a := range args {
		switch a := a.(type) {
		case gpu.Buffer:
			w = append(w, uint64(a))
		case int32:
			w = append(w, uint64(uint32(a)))
		case float64:
			w = append(w, math.Float64bits(a))
		default:
			panic(fmt.Sprintf("cuda: argument %d is a %T", i, a))
		}
	}
	return w
}

func (d driver) Wait() error { return kind(d.x.Wait()) }

func (d driver) Mark() (gpu.Mark, error) {
	e, err := d.x.Mark()
	return gpu.Mark(e), kind(err)
}

func (d driver) Times(marks []gpu.Mark) ([]time.Duration, error) {
	events := make([]uintptr, len(marks))
	for i, m := range marks {
		events[i] = uintptr(m)
	}
	times, err := d.x.Times(events)
	return times, kind(err)
}

func (d driver) Close() error { return kind(d.x.Close()) }
