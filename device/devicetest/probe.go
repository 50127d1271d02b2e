package devicetest

import (
	"fmt"
	"slices"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// probe checks one operation with operands of awkward shapes.
type probe struct {
	name     string // name of its special property
	op       graph.Op
	attrs    []any // keys and values in turn
	operands []operand
	tol      bound // the zero bound requires the bits of ref
}

// replicaRows is the number of rows that the replicas of a probe have.
var replicaRows = []int{2, 0, 3, 1}

func (p probe) title() string { return fmt.Sprintf("%v: %s", p.op, p.name) }

func (p probe) rule() string {
	how := "the bits of device/ref"
	if p.tol != bits {
		how = "as device/ref within the tolerance of docs/numerics.md, section 5"
	}
	return fmt.Sprintf("op table, %v: %s, whatever else is on the device", p.op, how)
}

// setting makes the program and its operands. Whole operands are state tensors,
// except for scalars and f64; all others are inputs.
func (p probe) setting() (*setting, error) { return p.settingWith(replicaRows) }

// settingWith does the same as setting for replicas of these rows.
func (p probe) settingWith(rows []int) (*setting, error) {
	draws := tensor.NewPhilox(1, tensor.StreamInit).Draws(uint32(p.op), 0)
	return p.settingDrawn(rows, &draws)
}

// settingDrawn is like settingWith but with the given random numbers. If draws is nil, all operands are
// zero.
func (p probe) settingDrawn(rows []int, draws *tensor.Draws) (*setting, error) {
	s := newSetting("probe", p.tol)
	s.rows = rows
	b := graph.NewBuilder(s.function, &s.program.State)
	var in []graph.Value
	for i, o := range p.operands {
		in = append(in, s.declare(b, fmt.Sprintf("x%d", i), o, draws))
	}
	var attrs graph.Attrs
	for i := 0; i < len(p.attrs); i += 2 {
		attrs = attrs.With(p.attrs[i].(string), p.attrs[i+1])
	}
	for i, v := range b.Node(p.op, "y", attrs, in...) {
		b.Output(fmt.Sprintf("y%d", i), v, false)
	}
	f, err := b.Function()
	if err != nil {
		return nil, fmt.Errorf("probe %s: %w", p.title(), err)
	}
	s.program.Functions = []*graph.Function{f}
	return s, nil
}

// declare makes one operand. If d is nil, the operand is zero.
func (s *setting) declare(b *graph.Builder, name string, o operand, d *tensor.Draws) graph.Value {
	if o.fill == nil {
		return graph.None
	}
	t := tensor.New(o.typ.DType, s.shape(o.typ)...)
	if d != nil {
		o.fill(d, t)
	}
	if o.typ.Kind == graph.Whole && o.typ.DType != tensor.F64 && len(o.typ.Shape) > 0 {
		s.state[name] = t
		return b.Declare(graph.State{Name: name, DType: t.DType, Shape: t.Shape, Role: graph.Constant})
	}
	s.inputs = append(s.inputs, t)
	return b.Input(name, o.typ)
}

// program makes the program only. It does not draw operands, because Cases needs the programs of all
// probes.
func (p probe) program() (*graph.Program, error) {
	s, err := p.settingDrawn(nil, nil)
	if err != nil {
		return nil, err
	}
	return s.program, nil
}

func (p probe) testCase() Case {
	return newCase(p.title(), p.rule(), p.program, judged(p.setting))
}

func allProbes() []probe {
	return slices.Concat(productProbes(), matMulProbes(), normProbes,
		rowNormProbes(rowNorms, blended, normal, ""), activationProbes(), poolProbes(), arithmeticProbes(),
		structureProbes, detectProbes, lossProbes, updateProbes, wideProbes(), compareProbes(), int8Probes())
}

func probeCases() []Case {
	var cases []Case
	for _, p := range allProbes() {
		cases = append(cases, p.testCase())
	}
	return cases
}
