// Command bnctl-device-sick is a device plugin with a fault, for tests. The environment variable BNCTL_SICK
// names the fault. The plugin shows how the conformance tests report the fault, and how a run ends that uses
// this device together with the CPU device. scripts/sick.sh makes a table of both. BNCTL_SICK_KERNELS is the
// kernel class that the device claims to have. "ref" and "fma" are true, except where the fault changes
// results. With one of them the bits of a run do not depend on the placement of replicas on devices.
package main

import (
	"cmp"
	"context"
	"math"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/device/class"
	"github.com/bnctl/bnctl/device/collective"
	"github.com/bnctl/bnctl/device/ref"
	"github.com/bnctl/bnctl/device/serve"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

const name = "sick"

var fault = os.Getenv("BNCTL_SICK")

func main() { serve.Main(provider{}) }

type provider struct{ ref.Provider }

// Describe implements device.Provider.
func (provider) Describe() device.Plugin {
	p := device.Plugin{Name: name, Version: "1", About: "a device with a fault: " + fault}
	if fault == "describe" && time.Now().UnixMilli()%2 == 0 {
		p.Name = "well"
	}
	return p
}

// List implements device.Provider.
func (p provider) List(ctx context.Context) ([]device.Info, string, error) {
	d, err := p.Open(ctx, device.DefaultID, device.Options{})
	if err != nil {
		return nil, "", err
	}
	defer d.Close()
	return []device.Info{d.Info()}, "", nil
}

// Open implements device.Provider.
func (p provider) Open(ctx context.Context, id string, o device.Options) (device.Device, error) {
	if o.Kernels = ""; os.Getenv("BNCTL_SICK_KERNELS") == class.FMA {
		o.Kernels = class.FMA
	}
	d, err := p.Provider.Open(ctx, id, o)
	return sick{d}, err
}

type sick struct{ device.Device }

// Info implements device.Device.
func (d sick) Info() device.Info {
	i := d.Device.Info()
	i.Name, i.Kernels = name, cmp.Or(os.Getenv("BNCTL_SICK_KERNELS"), name)
	switch fault {
	case "class":
		i.Kernels = "ref"
	case "borrowed class":
		i.Kernels = "generic"
	case "long name":
		i.Name = strings.Repeat("n", 1<<20)
	}
	i.Classes = class.Numbered(i.Kernels, device.F32)
	return i
}

// Load implements device.Device.
func (d sick) Load(ctx context.Context, p *graph.Program, c device.Capacity) (device.Executable, error) {
	if fault == "weights" {
		p = without(p, "weights")
	}
	x, err := d.Device.Load(ctx, p, c)
	return &executable{x, p, 0}, err
}

// without returns a copy of p where the nodes lack an attribute.
func without(p *graph.Program, key string) *graph.Program {
	for _, f := range p.Functions {
		for i := range f.Nodes {
			n := &f.Nodes[i]
			n.Attrs = slices.DeleteFunc(slices.Clone(n.Attrs), func(a graph.Attr) bool { return a.Key == key })
		}
	}
	return p
}

// Join implements device.Device.
func (d sick) Join(ctx context.Context, g device.Group) error {
	g.Exchange = exchanger{g.Exchange}
	return d.Device.Join(ctx, g)
}

// exchanger changes the data that the device contributes to an exchange.
type exchanger struct{ collective.Exchanger }

// Start implements collective.Exchanger.
func (e exchanger) Start(ctx context.Context, tag collective.Tag,
	values []collective.Reduction) func() error {
	misplace(&tag)
	for i := range values {
		for k, p := range values[i].Partials {
			switch {
			case fault == "absent" && tag.Lane == collective.Gradients:
				values[i].Partials[k].Value = tensor.Tensor{}
			case fault == "count" && values[i].Op == collective.MergeMoments && !p.Value.IsZero():
				p.Value.F64()[0]--
			}
		}
	}
	return e.Exchanger.Start(ctx, tag, values)
}

type executable struct {
	device.Executable
	program *graph.Program
	commits int
}

// Run implements device.Executable.
func (x *executable) Run(ctx context.Context, s device.Step) (device.Outcome, error) {
	ill(ctx)
	o, err := x.Executable.Run(ctx, s)
	if err != nil || len(o.Outputs) == 0 {
		return o, err
	}
	i := slices.IndexFunc(o.Outputs, func(t tensor.Tensor) bool {
		return t.DType == tensor.F32 && t.Count() > 0
	})
	if i < 0 {
		return o, nil
	}
	t := &o.Outputs[i]
	v := t.F32()
	switch {
	case fault == "row 64" && len(t.Shape) > 0 && t.Shape[0] > 64:
		v[64*len(v)/t.Shape[0]]++
	case fault == "class":
		v[len(v)-1] = math.Nextafter32(v[len(v)-1], 9)
	case fault == "last bit":
		v[len(v)-1] = math.Float32frombits(math.Float32bits(v[len(v)-1]) ^ 1)
	case fault == "NaN" && s.Function == graph.Predict:
		v[0] = float32(math.NaN())
	case fault == "type":
		*t = tensor.New(tensor.F64, t.Shape...)
	case fault == "shape":
		*t = tensor.New(tensor.F32, append([]int{1}, t.Shape...)...)
	case fault == "one more":
		o.Outputs = append(o.Outputs, *t)
	case fault == "one less":
		o.Outputs = o.Outputs[:len(o.Outputs)-1]
	}
	return o, nil
}

// Commit implements device.Executable.
func (x *executable) Commit(ctx context.Context, v device.Version, h device.Hyper) error {
	updates := x.program.Function(graph.Commit).Updates
	left := updates[len(updates)-1].State
	old, err := x.Executable.Read(ctx, left)
	if err == nil {
		err = x.Executable.Commit(ctx, v, h)
	}
	x.commits++
	if err == nil && (fault == "tensor" || fault == "late tensor" && x.commits > 5) {
		err = x.Executable.Write(ctx, left, old)
	}
	if err == nil && fault == "one bit" && x.commits == oneBitAt {
		err = x.flip(ctx, left)
	}
	return err
}

// oneBitAt is the number of the commit with the fault "one bit".
const oneBitAt = 3

// flip changes the lowest bit of the first element of a tensor.
func (x *executable) flip(ctx context.Context, name string) error {
	t, err := x.Executable.Read(ctx, name)
	if err != nil {
		return err
	}
	t.Bytes[0] ^= 1
	return x.Executable.Write(ctx, name, t)
}
