package cpu

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/device/lifecycle"
	"github.com/bnctl/bnctl/device/ref"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/plugins/cpu/internal/kernel"
	"github.com/bnctl/bnctl/tensor"
)

// opCase is one entry of testdata/ops.txt.
type opCase struct{ name, state, inputs, body string }

// opCases reads testdata/ops.txt.
func opCases(t *testing.T) []opCase { return casesOf(t, "testdata/ops.txt") }

// casesOf reads a file of cases.
func casesOf(t *testing.T, file string) (cases []opCase) {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(b)) {
		last := &opCase{}
		if len(cases) > 0 {
			last = &cases[len(cases)-1]
		}
		if name, ok := strings.CutPrefix(line, "== "); ok {
			cases = append(cases, opCase{name: strings.TrimSpace(name)})
		} else if inputs, ok := strings.CutPrefix(line, "in "); ok {
			last.inputs = strings.TrimSpace(inputs)
		} else if state, ok := strings.CutPrefix(line, "state "); ok {
			last.state += "state " + strings.TrimSpace(state) + " constant\n"
		} else {
			last.body += "  " + line
		}
	}
	return cases
}

// exact names the cases that must have the bits of ref.
var exact = map[string]bool{"sgd": true, "adamw": true, "lars": true, "ema": true, "dropout": true,
	"concat": true, "slice": true, "pixels of channels": true, "shuffled channels": true, "shuffled halves": true,
	"shuffled unequal parts": true, "channels taken apart": true, "channels taken by turns": true, "reshape": true, "transpose": true,
	"image": true, "mul channels": true, "mul channels of a lane": true, "mul columns": true}

// program converts a case to a program. Values that no node reads are its results.
func program(t *testing.T, c opCase) *graph.Program {
	t.Helper()
	text := fmt.Sprintf("bnctl program 1\nprogram \"case\"\n\n%s\nfunc predict(%s) {\n%s}\n", c.state, c.inputs,
		c.body)
	p, err := graph.ParseProgram([]byte(text))
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	fn := p.Functions[0]
	read := map[graph.Value]bool{} // values that nodes read; they are not made results
	for _, n := range fn.Nodes {
		for _, v := range n.In {
			read[v] = true
		}
	}
	for _, n := range fn.Nodes {
		for _, v := range n.Out {
			if read[v] {
				continue
			}
			fn.Outputs = append(fn.Outputs, graph.Output{Name: fn.Values[v].Name, Value: v})
		}
	}
	return p
}

// randomTensor returns a tensor with random values. If they are labels, they range from -1 to 4.
func randomTensor(r *rand.Rand, d tensor.DType, shape []int) tensor.Tensor {
	out := tensor.New(d, shape...)
	switch d {
	case tensor.F32:
		for i := range out.F32() {
			out.F32()[i] = float32(r.NormFloat64())
		}
	case tensor.I32:
		for i := range out.I32() {
			out.I32()[i] = int32(r.IntN(6) - 1)
		}
	case tensor.I64:
		for i := range out.I64() {
			out.I64()[i] = int64(r.IntN(1000))
		}
	default:
		for i := range out.Bytes {
			out.Bytes[i] = byte(r.IntN(256))
		}
	}
	return out
}

// openSet opens a device with these kernels and threads.
func openSet(t *testing.T, kernels string, threads int) device.Device {
	t.Helper()
	d, err := Provider{}.Open(context.Background(), device.DefaultID,
		device.Options{Kernels: kernels, Threads: threads})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return d
}

// backendOf returns the backend of a device, and runnerOf the runner of an executable.
func backendOf(d device.Device) *backend { return d.(*lifecycle.Device).Backend().(*backend) }

func runnerOf(x device.Executable) *runner { return x.(*lifecycle.Executable).Runner().(*runner) }

// evaluate runs the only function of p with random state and inputs; no variance
// is negative.
func evaluate(t *testing.T, d device.Device, p *graph.Program, rows []int, from, to int) []tensor.Tensor {
	t.Helper()
	ctx, r := context.Background(), rand.New(rand.NewPCG(5, 5))
	total := 0
	for _, n := range rows {
		total += n
	}
	x, err := d.Load(ctx, p, device.Capacity{Rows: total + 1, Replicas: len(rows)})
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	for _, s := range p.State {
		v := randomTensor(r, s.DType, s.Shape)
		if s.Name == "variance" {
			v = sizes(v)
		}
		if err := x.Write(ctx, s.Name, v); err != nil {
			t.Fatal(err)
		}
	}
	step := device.Step{Function: p.Functions[0].Name, Rows: rows[from:to]}
	first, last := sum(rows[:from]), sum(rows[:to])
	for _, v := range p.Functions[0].Inputs {
		typ := p.Functions[0].Values[v].Type
		step.Inputs = append(step.Inputs, randomTensor(r, typ.DType, append([]int{total}, typ.Shape...)).Rows(first,
			last))
	}
	out, err := x.Run(ctx, step)
	if err != nil {
		t.Fatal(err)
	}
	return out.Outputs
}

func sum(rows []int) (n int) {
	for _, r := range rows {
		n += r
	}
	return n
}

// difference returns the largest difference between a and b, relative to the largest value in b.
func difference(a, b tensor.Tensor) float64 {
	x, y := numbers(a), numbers(b)
	worst, largest := 0.0, 1e-30
	for i := range x {
		largest = max(largest, math.Abs(y[i]))
		if d := math.Abs(x[i] - y[i]); !(d <= worst) {
			worst = d
		}
	}
	return worst / largest
}

func numbers(t tensor.Tensor) []float64 {
	if t.DType == tensor.F64 {
		return t.F64()
	}
	f, err := t.ToF32()
	if err != nil {
		panic(err)
	}
	out := make([]float64, f.Count())
	for i, v := range f.F32() {
		out[i] = float64(v)
	}
	return out
}

func TestOpsAgainstRef(t *testing.T) {
	rows := []int{3, 0, 2, 7}
	for _, c := range opCases(t) {
		t.Run(c.name, func(t *testing.T) {
			p := program(t, c)
			want := evaluate(t, ref.New("ref"), p, rows, 0, len(rows))
			bits := map[string][]tensor.Tensor{}
			for _, set := range kernel.Sets() {
				for _, threads := range []int{1, 2, 3} {
					got := evaluate(t, openSet(t, set.Name, threads), p, rows, 0, len(rows))
					for i := range want {
						if d := difference(got[i], want[i]); !(d < 2e-6) || exact[c.name] && !tensor.Equal(got[i], want[i]) {
							t.Errorf("%s: output %d differs from ref by %.2g", set.Name, i, d)
						}
					}
					if bits[set.Class] == nil {
						bits[set.Class] = got
					}
					for i := range got {
						if !tensor.Equal(got[i], bits[set.Class][i]) {
							t.Errorf("%s, %d threads: output %d has other bits than class %s before", set.Name, threads, i,
								set.Class)
						}
					}
				}
			}
		})
	}
}

// TestReplicaAlone checks that a replica has the same bits in a run with other replicas and in a run of its
// own.
func TestReplicaAlone(t *testing.T) {
	rows := []int{3, 0, 2, 7}
	for _, c := range opCases(t) {
		if strings.Contains(c.body, "all_reduce") {
			continue // this operation sums over the replicas that are present
		}
		t.Run(c.name, func(t *testing.T) {
			p, d := program(t, c), openSet(t, "auto", 2)
			together := evaluate(t, d, p, rows, 0, len(rows))
			for r := range rows {
				for i, alone := range evaluate(t, d, p, rows, r, r+1) {
					want := together[i]
					switch p.Functions[0].Values[p.Functions[0].Outputs[i].Value].Type.Kind {
					case graph.Rows:
						want = want.Rows(sum(rows[:r]), sum(rows[:r+1]))
					case graph.Replica:
						want = want.Rows(r, r+1)
					}
					if !tensor.Equal(alone, want) {
						t.Errorf("replica %d: output %d depends on the other replicas", r, i)
					}
				}
			}
		})
	}
}
