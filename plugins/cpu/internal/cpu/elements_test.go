package cpu

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// elementCases are elementwise operations and reductions, some with operands that broadcast. m, n and p
// (which is positive) are maps of [64,128,128], and s and t are lines, [1024,1024]. Each case reads or
// writes a million elements.
const elementCases = `relu(m); relu6(m); leaky_relu(m, alpha=0.1); elu(m, alpha=1); sigmoid(m); silu(m)
hard_sigmoid(m, alpha=0.2, beta=0.5); hard_swish(m); tanh(m); softplus(m); erf(m); gelu(m)
gelu_tanh(m); mish(m); clip(m, min=-1, max=1); exp(m); log(p); sqrt(p); affine(m, by=2)
affine(m, by=2, add=1); round(m, mode="even"); round(m, mode="floor"); round(m, mode="ceil")
compare(m, of="greater"); prelu(m, @channel); where(m, n); where(m, n, p); add(m, n); sub(m, n)
mul(m, n); div(m, n); max(m, n); min(m, n); compare(m, n, of="less"); pow(m, n); pow(p, @two)
pow(p, @three); pow(p, @half); pow(p, @minus_half); pow(p, @minus_one); pow(p, @other)
add(m, @other); sub(@other, m); div(m, @other); div(@other, m); max(m, @other)
compare(m, @other, of="less"); where(m, @other); where(m, n, @other); add(m, @channel3)
mul(m, @channel3); div(m, @channel3); sub(@channel3, m); max(m, @channel3); mul(m, gate)
add(m, gate); div(m, gate); mul(m, plane); add(m, plane); add(m, @plane1); add(m, @columns)
where(@map, m, @other); add(s, t); add(s, @last); sub(s, line); mul(s, line); add(s, @table)
where(@table, s, @other); reduce_mean(m, axes=[1,2]); reduce_sum(m, axes=[0])
reduce_max(m, axes=[0]); reduce_max(m, axes=[1,2]); reduce_mean(m, axes=[2])
reduce_mean(s, axes=[1]); reduce_sum(s, axes=[0]); reduce_max(s, axes=[1]); softmax(s, axis=1)
softmax(m, axis=0); transpose(s, perm=[1,0])`

const elementProgram = `bnctl program 1
program "case"

state channel f32[64] constant
state channel3 f32[64,1,1] constant
state two f32[] constant
state three f32[] constant
state half f32[] constant
state minus_half f32[] constant
state minus_one f32[] constant
state other f32[] constant
state plane1 f32[1,128,128] constant
state columns f32[128] constant
state last f32[1024] constant
state table f32[1024,1024] constant
state map f32[64,128,128] constant

func predict(m rows f32[64,128,128], n rows f32[64,128,128], p rows f32[64,128,128], s rows f32[1024,1024],
  t rows f32[1024,1024], gate rows f32[64,1,1], plane rows f32[1,128,128], line rows f32[1024,1]) {
  y = %s
}
`

// BenchmarkElements reports the time of a node per element, without other nodes. It is the lower quartile
// of the runs.
func BenchmarkElements(b *testing.B) {
	numbers := map[string]float32{"two": 2, "three": 3, "half": 0.5, "minus_half": -0.5, "minus_one": -1,
		"other": 1.7}
	fill := func(t tensor.Tensor, name string) tensor.Tensor {
		for i := range t.F32() {
			t.F32()[i] = float32(i*7919%1001)/200 - 2.5
			if number, ok := numbers[name]; ok {
				t.F32()[i] = number
			} else if name == "p" {
				t.F32()[i] += 2.6
			}
		}
		return t
	}
	for _, c := range strings.Split(strings.ReplaceAll(elementCases, "\n", "; "), "; ") {
		b.Run(c, func(b *testing.B) {
			p, err := graph.ParseProgram(fmt.Appendf(nil, strings.ReplaceAll(elementProgram, ",\n", ","), c))
			if err != nil {
				b.Fatal(err)
			}
			fn := p.Functions[0]
			fn.Outputs = append(fn.Outputs, graph.Output{Name: "y", Value: fn.Nodes[0].Out[0]})
			d, err := Provider{}.Open(b.Context(), device.DefaultID, device.Options{Threads: 1})
			if err != nil {
				b.Fatal(err)
			}
			defer d.Close()
			x, err := d.Load(b.Context(), p, device.Capacity{Rows: 1, Replicas: 1})
			if err != nil {
				b.Fatal(err)
			}
			defer x.Close()
			for _, s := range p.State {
				if err := x.Write(b.Context(), s.Name, fill(tensor.New(s.DType, s.Shape...), s.Name)); err != nil {
					b.Fatal(err)
				}
			}
			step := device.Step{Function: graph.Predict, Rows: []int{1}, Profile: true}
			for _, v := range fn.Inputs {
				in := tensor.New(tensor.F32, append([]int{1}, fn.Values[v].Type.Shape...)...)
				step.Inputs = append(step.Inputs, fill(in, fn.Values[v].Name))
			}
			var took []float64
			for b.Loop() {
				o, err := x.Run(b.Context(), step)
				if err != nil {
					b.Fatal(err)
				}
				took = append(took, float64(o.Nodes[0])/(1<<20))
				x.(device.Reuser).Reuse(o.Outputs)
			}
			slices.Sort(took)
			b.ReportMetric(took[len(took)/4], "ns/element")
		})
	}
}
