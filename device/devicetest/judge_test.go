package devicetest_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/device/class"
	"github.com/bnctl/bnctl/device/devicetest"
	"github.com/bnctl/bnctl/device/ref"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// sick is a device with a fault. Fields that are set replace the behaviour of ref.
type sick struct {
	device.Device
	load    func(error) error
	join    func(device.Group) device.Group
	kernels string // kernel class of the device; "" means a private class
	program func(*graph.Program) *graph.Program
	x       sickExecutable
}

func (d *sick) Info() device.Info {
	i := d.Device.Info()
	if i.Kernels = d.kernels; i.Kernels == "" {
		i.Kernels = "sick"
	}
	i.Classes = nil
	return i
}

func (d *sick) Join(ctx context.Context, g device.Group) error {
	if d.join != nil {
		g = d.join(g)
	}
	return d.Device.Join(ctx, g)
}

// sickExecutable replaces calls of an executable.
type sickExecutable struct {
	device.Executable
	run    func(context.Context, device.Executable, device.Step) (device.Outcome, error)
	commit func(context.Context, device.Executable, device.Version, device.Hyper) error
	read   func(device.Executable, string) (tensor.Tensor, error)
}

func (d *sick) Load(ctx context.Context, p *graph.Program, c device.Capacity) (device.Executable, error) {
	if d.program != nil {
		p = d.program(p)
	}
	x, err := d.Device.Load(ctx, p, c)
	if err != nil {
		if d.load != nil {
			err = d.load(err)
		}
		return nil, err
	}
	s := d.x
	s.Executable = x
	return &s, nil
}

func (x *sickExecutable) Run(ctx context.Context, s device.Step) (device.Outcome, error) {
	if x.run != nil {
		return x.run(ctx, x.Executable, s)
	}
	return x.Executable.Run(ctx, s)
}

func (x *sickExecutable) Commit(ctx context.Context, v device.Version, h device.Hyper) error {
	if x.commit != nil {
		return x.commit(ctx, x.Executable, v, h)
	}
	return x.Executable.Commit(ctx, v, h)
}

func (x *sickExecutable) Read(ctx context.Context, name string) (tensor.Tensor, error) {
	if x.read != nil {
		return x.read(x.Executable, name)
	}
	return x.Executable.Read(ctx, name)
}

// spoiled returns an executable with runs that call change on their first f32 output.
func spoiled(change func(device.Step, []float32)) sickExecutable {
	return sickExecutable{run: func(ctx context.Context, x device.Executable, s device.Step) (device.Outcome,
		error) {
		o, err := x.Run(ctx, s)
		for _, t := range o.Outputs {
			if t.DType == tensor.F32 && t.Count() > 0 {
				change(s, t.F32())
				break
			}
		}
		return o, err
	}}
}

func next(v *float32) { *v = math.Nextafter32(*v, float32(math.Inf(1))) }

// faults maps a fault to a case that must find it and to the expected message.
var faults = []struct {
	name  string
	fault sick
	finds string // name of the case
	says  string
}{
	{"last bit of an exact operation", sick{x: spoiled(func(_ device.Step, v []float32) { next(&v[0]) })},
		"image: grey", "first [0 0 0 0]"},
	{"wrong in the fifth digit", sick{x: spoiled(func(_ device.Step, v []float32) { v[len(v)-1] *= 1.0001 })},
		"conv: 3x3", "allowed"},
	{"depends on the batch size", sick{x: spoiled(func(s device.Step, v []float32) {
		if len(s.Rows) > 1 {
			next(&v[0])
		}
	})}, "conv: 3x3", "alone: output y0 has other bits"},
	{"updates that are not exact", sick{x: spoiled(func(_ device.Step, v []float32) { next(&v[len(v)-1]) })},
		"sgd: large", "1 of 8256 elements"},
	{"no outputs", sick{x: sickExecutable{run: runAndTell(0)}}, "conv: 3x3", "0 outputs, want 1"},
	{"outputs twice", sick{x: sickExecutable{run: runAndTell(2)}}, "conv: 3x3", "2 outputs, want 1"},
	{"not a number is lost", sick{x: spoiled(func(_ device.Step, v []float32) {
		for i := range v {
			if v[i] != v[i] {
				v[i] = 0
			}
		}
	})}, "relu: NaN", "is finite"},
	{"a commit each time", sick{x: sickExecutable{commit: commitAgain}}, "commit: idempotent", "elements"},
	{"a run that writes", sick{x: sickExecutable{run: runAndWrite}}, "run: changes nothing", "bn.gamma"},
	{"deaf to the context", sick{x: sickExecutable{run: runDeaf}}, "context: ends in an exchange", "went on"},
	{"other tags", sick{x: sickExecutable{run: runOtherStep}}, "exchange: tags", "17"},
	{"panic", sick{x: spoiled(func(device.Step, []float32) { panic("oh") })}, "image: grey", "panic: oh"},
	{"reads that are shared", sick{x: sickExecutable{read: sharedRead()}}, "state: reads are copies",
		"overwritten"},
	{"a sum in another order, in class ref", sick{kernels: class.Ref,
		x: spoiled(func(_ device.Step, v []float32) { next(&v[len(v)-1]) })}, "conv: 3x3",
		"other bits than class ref defines, which Info.Kernels names: 1 of"},
	{"the class of another device", sick{kernels: class.Generic}, "info: what a device says of itself",
		"is that of the device cpu alone"},
	{"attributes that it does not know are left out", sick{program: withoutUnknown},
		"load: attributes that nobody knows", "was loaded"},
	{"attributes that it does not know are a mistake", sick{load: func(err error) error {
		return device.Errorf("sick", "Load", device.Invalid, "%v", err)
	}}, "load: attributes that nobody knows", `is of kind "invalid", want "unsupported"`},
	{"operations that it does not know are the next best", sick{program: withoutUnknown},
		"load: operations that nobody knows", "op(60000) with attributes [] was loaded"},
	{"a commit that leaves a tensor as it was", sick{x: commitsNot("fc.bias", 0)},
		"commit: every tensor", "fc.bias is as it was before the commit of version 0"},
	{"later commits that leave a tensor as it was", sick{x: commitsNot("fc.bias", 6)},
		"commit: every tensor", "fc.bias is as it was before the commit of version 6"},
	{"errors without a kind", sick{load: func(err error) error { return errors.New(err.Error()) }},
		"load: invalid program", "invalid"},
	{"a part of the tree is taken for all of it", sick{join: func(g device.Group) device.Group {
		g.Tree = 0
		return g
	}}, "all_reduce: replicas held [[0] [1 2 3 4 5 6 7]] on machines [0 1]", "want each of 0 to 6"},
	{"a part of the tree is added up alone", sick{join: func(g device.Group) device.Group {
		if !g.Whole() {
			g.Replicas, g.Tree, g.Rank = [][]int{{0, 1, 2, 3}}, 4, 0
		}
		return g
	}}, "all_reduce: replicas held [[0 1 2 3] [4 5 6 7]] on machines [0 1]", "f32 sum"},
}

// withoutUnknown returns p without unknown attributes, and with relu instead of unknown
// operations. A faulty device may read programs in this way.
func withoutUnknown(p *graph.Program) *graph.Program {
	for _, f := range p.Functions {
		for i := range f.Nodes {
			n := &f.Nodes[i]
			if n.Op == 60000 {
				n.Op = graph.Relu
			}
			n.Attrs = slices.DeleteFunc(slices.Clone(n.Attrs), func(a graph.Attr) bool {
				return a.Key == "invented-by-the-judge"
			})
		}
	}
	return p
}

// commitsNot returns a Commit that leaves the named tensor unchanged, beginning with version from.
func commitsNot(name string, from device.Version) sickExecutable {
	return sickExecutable{commit: func(ctx context.Context, x device.Executable, v device.Version,
		h device.Hyper) error {
		old, err := x.Read(ctx, name)
		if err == nil {
			err = x.Commit(ctx, v, h)
		}
		if err == nil && v >= from {
			err = x.Write(ctx, name, old)
		}
		return err
	}}
}

func commitAgain(ctx context.Context, x device.Executable, v device.Version, h device.Hyper) error {
	if err := x.Commit(ctx, v, h); err != nil {
		return err
	}
	t, err := x.Read(ctx, "bn.gamma")
	if err != nil {
		return err
	}
	next(&t.F32()[0])
	return x.Write(ctx, "bn.gamma", t)
}

func runAndWrite(ctx context.Context, x device.Executable, s device.Step) (device.Outcome, error) {
	if err := x.Write(ctx, "bn.gamma", tensor.New(tensor.F32, 5)); err != nil {
		return device.Outcome{}, err
	}
	return x.Run(ctx, s)
}

// runAndTell returns a Run that returns its list of outputs the given number of times.
func runAndTell(times int) func(context.Context, device.Executable, device.Step) (device.Outcome, error) {
	return func(ctx context.Context, x device.Executable, s device.Step) (device.Outcome, error) {
		o, err := x.Run(ctx, s)
		o.Outputs = slices.Repeat(o.Outputs, times)
		return o, err
	}
}

func runDeaf(_ context.Context, x device.Executable, s device.Step) (device.Outcome, error) {
	return x.Run(context.Background(), s)
}

func runOtherStep(ctx context.Context, x device.Executable, s device.Step) (device.Outcome, error) {
	s.Number++
	return x.Run(ctx, s)
}

func sharedRead() func(device.Executable, string) (tensor.Tensor, error) {
	have := map[string]tensor.Tensor{}
	return func(x device.Executable, name string) (tensor.Tensor, error) {
		if t, ok := have[name]; ok {
			return t, nil
		}
		t, err := x.Read(context.Background(), name)
		have[name] = t
		return t, err
	}
}

func TestJudgeFindsFaults(t *testing.T) {
	for _, f := range faults {
		t.Run(f.name, func(t *testing.T) {
			r := caseNamed(t, f.finds).Judge(t.Context(), func(context.Context, string) (device.Device, error) {
				d := f.fault
				d.Device = ref.New("sick")
				return &d, nil
			}, device.F32)
			if r.Err == nil || !strings.Contains(r.Err.Error(), f.says) {
				t.Errorf("%s: %v, want an error with %q", f.finds, r.Err, f.says)
			}
		})
	}
}

// half is a device that computes at BF16 when it is opened at F32. in and out are applied to its
// inputs and outputs.
type half struct {
	device.Device
	in, out func(float32) float32 // functions of the elements of inputs and outputs
}

// each applies f to the elements of float32 rows that have two axes or more.
func each(list []tensor.Tensor, f func(float32) float32) []tensor.Tensor {
	var out []tensor.Tensor
	for _, t := range list {
		if t = t.Clone(); t.DType == tensor.F32 && len(t.Shape) > 2 {
			for i, v := range t.F32() {
				t.F32()[i] = f(v)
			}
		}
		out = append(out, t)
	}
	return out
}

func (d half) Info() device.Info {
	i := d.Device.Info()
	i.Kernels = "half"
	return i
}

func (d half) Load(ctx context.Context, p *graph.Program, c device.Capacity) (device.Executable, error) {
	x, err := d.Device.Load(ctx, p, c)
	return &sickExecutable{Executable: x, run: func(ctx context.Context, x device.Executable, s device.Step) (
		device.Outcome, error) {
		s.Inputs = each(s.Inputs, d.in)
		o, err := x.Run(ctx, s)
		o.Outputs = each(o.Outputs, d.out)
		return o, err
	}}, err
}

// TestJudgeFindsFaultsOfBF16 checks that cases find devices that compute at BF16, entirely or in
// part, when they are opened at F32.
func TestJudgeFindsFaultsOfBF16(t *testing.T) {
	same := func(v float32) float32 { return v }
	cut := func(v float32) float32 { return math.Float32frombits(math.Float32bits(v) &^ 0xffff) }
	for _, f := range []struct {
		name    string
		in, out func(float32) float32
		finds   string
		says    string
	}{
		{"nothing is rounded", same, same, "conv: 3x3", "which is not a bfloat16"},
		{"operands are not rounded", device.RoundBF16, device.RoundBF16, "dense: 64 to 10", "f32[6,10] differ"},
		{"inputs are not rounded", same, device.RoundBF16, "moments: 5 channels of 3x2", "differ"},
		{"inputs are cut off", cut, device.RoundBF16, "max_pool: 2x2 stride 2", "differ"},
		{"results are cut off", device.RoundBF16, cut, "batch_norm: 16 channels of 4x5", "not the bfloat16 nearest"},
	} {
		t.Run(f.name, func(t *testing.T) {
			r := caseNamed(t, f.finds).Judge(t.Context(), func(context.Context, string) (device.Device, error) {
				return half{ref.New("half"), f.in, f.out}, nil
			}, device.BF16)
			if r.Err == nil || !strings.Contains(r.Err.Error(), f.says) {
				t.Errorf("%s: %v, want an error with %q", f.finds, r.Err, f.says)
			}
		})
	}
}

func TestRefusalMustListTheNodes(t *testing.T) {
	r := caseNamed(t, "lars: decay").Judge(t.Context(), func(context.Context, string) (device.Device, error) {
		return &sick{Device: ref.New("ref", graph.LARS), load: func(err error) error {
			return device.Errorf("ref", "Load", device.Unsupported, "something")
		}}, nil
	}, device.F32)
	if want := "is not a *device.Refused"; r.Err == nil || !strings.Contains(r.Err.Error(), want) {
		t.Errorf("error %v, want one with %q", r.Err, want)
	}
}

func caseNamed(t *testing.T, name string) devicetest.Case {
	t.Helper()
	cases := devicetest.Cases()
	i := slices.IndexFunc(cases, func(c devicetest.Case) bool { return c.Name == name })
	if i < 0 {
		t.Fatalf("no case %q", name)
	}
	return cases[i]
}

// TestEveryOperationHasCases checks that every operation of devices has a case.
func TestEveryOperationHasCases(t *testing.T) {
	have := map[graph.Op]bool{}
	for _, c := range devicetest.Cases() {
		if len(c.Ops) == 1 {
			have[c.Ops[0]] = true
		}
		if c.Rule == "" {
			t.Errorf("case %q quotes no rule", c.Name)
		}
	}
	for o := graph.Op(0); o < 1000; o++ {
		if o.Valid() && !o.Host() && !have[o] {
			t.Errorf("no case for %v", o)
		}
	}
}

func TestCasesHaveNamesOfTheirOwn(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range devicetest.Cases() {
		if seen[c.Name] {
			t.Errorf("two cases %q", c.Name)
		}
		seen[c.Name] = true
	}
}

// TestRefusalOfSomeNodes tests devices that refuse some nodes of an operation that they have.
// This is permitted unless the program could belong to a network that every device must run. The
// refused nodes must exist.
func TestRefusalOfSomeNodes(t *testing.T) {
	for _, c := range []struct {
		name    string
		node    string // node that the error names instead of y
		refused bool
	}{
		{"conv: 3 groups", "y", true},
		{"conv: 3 groups", "z", false},
		{"commit: idempotent", "", false},
	} {
		r := caseNamed(t, c.name).Judge(t.Context(), func(context.Context, string) (device.Device, error) {
			return &grouped{sick{Device: ref.New("sick")}, c.node}, nil
		}, device.F32)
		if ok := r.Err == nil && slices.Equal(r.Refused, []graph.Op{graph.Conv}); ok != c.refused {
			t.Errorf("%s, naming %q: %v, refused %v", c.name, c.node, r.Err, r.Refused)
		}
	}
}

// grouped is a device that refuses every convolution, and names one node in the error.
type grouped struct {
	sick
	node string
}

func (d *grouped) Load(_ context.Context, p *graph.Program, _ device.Capacity) (device.Executable, error) {
	f := p.Functions[0]
	node := d.node
	for i := range f.Nodes {
		if f.Nodes[i].Op == graph.Conv && node == "" {
			node = f.NodeName(&f.Nodes[i])
		}
	}
	return nil, device.Errorf("sick", "Load", device.Unsupported, "%w", &device.Refused{Nodes: []device.Refusal{
		{Function: f.Name, Node: node, Op: graph.Conv, Why: "groups"}}})
}

// TestEveryCaseAdvises checks that every case has advice about a fault, and that cases about the
// contract have specific advice.
func TestEveryCaseAdvises(t *testing.T) {
	for _, c := range devicetest.Cases() {
		about := strings.HasPrefix(c.Rule, "op table") || strings.HasPrefix(c.Rule, "docs/numerics.md, sections 4")
		general := strings.HasPrefix(c.Advice(), "compare with the prose of the operation")
		if !about && general {
			t.Errorf("case %q, of the rule %q, says nothing of its own", c.Name, c.Rule)
		}
	}
	if got := caseNamed(t, "load: new state").Advice(); !strings.HasPrefix(got, "make every state tensor zero") {
		t.Errorf("the longest beginning does not count: %q", got)
	}
}

// oneStepOff is a device that changes the last byte of each output of bytes by one step. It sets met when
// it changes an output.
func oneStepOff(met *bool) device.Device {
	return &sick{Device: ref.New("sick"), x: sickExecutable{run: func(ctx context.Context, x device.Executable,
		s device.Step) (device.Outcome, error) {
		o, err := x.Run(ctx, s)
		for _, y := range o.Outputs {
			if (y.DType == tensor.U8 || y.DType == tensor.I8) && y.Count() > 0 {
				y.Bytes[len(y.Bytes)-1] ^= 1
				*met = true
			}
		}
		return o, err
	}}}
}

// TestJudgeFindsSteps checks that a byte that is one step off fails every int8 case, and that every int8
// operation with a byte result has a case.
func TestJudgeFindsSteps(t *testing.T) {
	found := map[string]int{}
	for _, c := range devicetest.Cases() {
		name, _, _ := strings.Cut(c.Name, ":")
		if !slices.ContainsFunc(graph.Ops(), func(o graph.Op) bool { return o.Int8() && o.String() == name }) {
			continue
		}
		met := false
		r := c.Judge(t.Context(), func(context.Context, string) (device.Device, error) {
			return oneStepOff(&met), nil
		}, device.F32)
		if met && r.Err == nil {
			t.Errorf("%s: a step is not found", c.Name)
		}
		if met {
			found[name]++
		}
	}
	for _, op := range graph.Ops() {
		if op.Int8() && op != graph.Dequantize && found[op.String()] == 0 {
			t.Errorf("no case of %v has bytes for a result", op)
		}
	}
}
