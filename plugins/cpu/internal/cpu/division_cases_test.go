package cpu

import (
	"fmt"
	"go/token"
	"go/types"
	"hash/fnv"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/plugins/cpu/internal/schedule"
	"github.com/bnctl/bnctl/tensor"
)

// testdata/division.txt has cases of all operations, forwards and backwards, in the format of ops.txt.
// Their shapes are drawn: {C} is a number of channels, {O} another, {H} and {W} are the height and width of
// an image, and expressions such as {2*C+1} are computed.

// divisionDraw is one case with its shapes, its state and inputs, and how work is divided.
type divisionDraw struct {
	name     string
	c        opCase
	program  *graph.Program
	schedule schedule.Schedule
	seed     uint64
}

func (d *divisionDraw) String() string {
	return fmt.Sprintf("%s, seed %d\n%s%s\n%s%+v", d.name, d.seed, d.c.state, d.c.inputs, d.c.body, d.schedule)
}

// shapeOf draws the sizes {C}, {O}, {H} and {W} for a case.
type shapeOf func(r *rand.Rand, c opCase, draw uint64) map[string]int

// drawDivision draws shapes, values and a schedule for a case.
func drawDivision(t *testing.T, c opCase, seed uint64, shape shapeOf, real schedule.Schedule) *divisionDraw {
	t.Helper()
	name := fnv.New64()
	_, _ = name.Write([]byte(c.name))
	r := rand.New(rand.NewPCG(seed, name.Sum64()))
	sizes := shape(r, c, seed)
	d := &divisionDraw{name: c.name, seed: seed, schedule: drawSchedule(r, real, seed), c: opCase{c.name,
		evaluated(t, c.state, sizes), evaluated(t, c.inputs, sizes), evaluated(t, c.body, sizes)}}
	d.program = program(t, d.c)
	return d
}

// edgeChannels are numbers just below, at and just above the sizes of vectors and panels of all kernels.
// They also include odd numbers, primes, and the minimum for which a kernel walks over all columns of a
// position.
var edgeChannels = []int{1, 2, 3, 5, 7, 8, 9, 13, 15, 16, 17, 23, 24, 25, 31, 32, 33, 37, 47, 48, 49, 61,
	63, 64, 65, 79, 80, 81, 95, 96, 97, 113, 127, 128, 129, 160, 176, 181, 184, 191, 192, 193, 239, 255, 257}

// longSums matches the names of cases that sum over positions. Some draws of these cases have more
// positions than one span.
var longSums = regexp.MustCompile("^(moments|normalise|batch|global_avg_pool$|sums$|reductions of pix|group_)")

// pickChannels draws one of edgeChannels.
func pickChannels(r *rand.Rand, least, most int) int {
	for {
		if c := edgeChannels[r.IntN(len(edgeChannels))]; least <= c && c <= most {
			return c
		}
	}
}

// smallShapes returns a function that draws shapes. A product of an image with a weight has at most the
// given number of multiplications. In every other draw, each of two threads gets more channels than the
// minimum of all kernels, and some channels fill no vector.
func smallShapes(most int) shapeOf {
	return func(r *rand.Rand, c opCase, draw uint64) map[string]int { return drawShape(r, c, draw, most) }
}

func drawShape(r *rand.Rand, c opCase, draw uint64, most int) map[string]int {
	pick := func(least, most int) int { return pickChannels(r, least, most) }
	s := map[string]int{"C": pick(1, 257), "O": 1}
	for draw%2 == 1 && (s["C"] < 170 || s["C"]%16 == 0) {
		s["C"] = pick(170, 257)
	}
	products := strings.Contains(c.state+c.inputs, "{O}")
	if products {
		s["O"] = pick(1, max(2, most/s["C"]))
	}
	area := max(6, min(most/(s["C"]*s["O"]), most/4))
	switch {
	case longSums.MatchString(c.name) && r.IntN(8) == 0:
		s["C"], area = pick(1, 3), 4096+r.IntN(300)
	case !products:
		area = min(area, 300)
	}
	s["W"] = 2 + r.IntN(max(1, min(area/2, 2*isqrt(area))))
	s["H"] = 1 + r.IntN(max(1, area/s["W"]))
	return s
}

func isqrt(n int) (root int) {
	for root*root <= n {
		root++
	}
	return root
}

// drawSchedule draws how work is divided. Every other draw divides all work into the maximum number of
// tasks. The other draws have the schedule of this machine, or a random mix of its numbers and extreme
// ones.
func drawSchedule(r *rand.Rand, s schedule.Schedule, draw uint64) schedule.Schedule {
	const all = 1 << 40
	pick := func(real, few, many int) int { return []int{real, few, many}[r.IntN(3)] }
	switch {
	case draw%2 == 1:
		s.Piece, s.SmallPiece, s.Range = 1, pick(s.SmallPiece, 1, all), 1
		if r.IntN(2) == 0 {
			return s
		}
	case r.IntN(4) == 0:
		return s
	default:
		s.Piece, s.SmallPiece = pick(s.Piece, 1, 1+r.IntN(200)), pick(s.SmallPiece, 1, all)
		s.Range = pick(s.Range, 1, 64)
	}
	s.Weights, s.Rows, s.Span = pick(s.Weights, 1, all), pick(s.Rows, 1, all), pick(s.Span, 1, all)
	s.Step, s.Far, s.Tiling = pick(s.Step, 1, all), pick(s.Far, 1, all), pick(s.Tiling, 1<<14, 1<<30)
	s.LightTiles, s.HeavyTiles = pick(s.LightTiles, 1, 1<<10), pick(s.HeavyTiles, 1, 1<<10)
	s.Tiles, s.FewTiles = pick(s.Tiles, 1, 4<<20), pick(s.FewTiles, 1, all)
	s.SmallSums, s.SomeTiles = pick(s.SmallSums, 1, all), pick(s.SomeTiles, 1, 4<<20)
	s.ManyTiles, s.Gradient = pick(s.ManyTiles, 1, 16<<20), pick(s.Gradient, 1, all)
	s.Pairs = pick(s.Pairs, 1, 64<<10)
	return s
}

var placeholder = regexp.MustCompile(`\{[^}]*\}`)

// evaluated replaces expressions in braces by their values.
func evaluated(t *testing.T, text string, sizes map[string]int) string {
	t.Helper()
	return placeholder.ReplaceAllStringFunc(text, func(s string) string {
		s = strings.Trim(s, "{}")
		for name, n := range sizes {
			s = strings.ReplaceAll(s, name, fmt.Sprint(n))
		}
		v, err := types.Eval(token.NewFileSet(), nil, token.NoPos, s)
		if err != nil {
			t.Fatal(err)
		}
		return v.Value.ExactString()
	})
}

// tensors returns the state, by name, and the inputs of the given number of rows.
func (d *divisionDraw) tensors(rows int) (state map[string]tensor.Tensor, inputs []tensor.Tensor) {
	r := rand.New(rand.NewPCG(d.seed, 56))
	state = map[string]tensor.Tensor{}
	for _, s := range d.program.State {
		v := randomTensor(r, s.DType, s.Shape)
		switch s.Name {
		case "variance":
			v = sizes(v)
		case "by":
			v = sizes(v)
			for i := range v.F32() {
				v.F32()[i] *= 1e-3
			}
		}
		state[s.Name] = v
	}
	fn := d.program.Functions[0]
	for _, v := range fn.Inputs {
		typ := fn.Values[v].Type
		inputs = append(inputs, randomTensor(r, typ.DType, append([]int{rows}, typ.Shape...)))
	}
	return state, inputs
}

// run runs the draw on a device: in memory that nothing else has used.
func (d *divisionDraw) run(t *testing.T, on device.Device, rows int) []tensor.Tensor {
	t.Helper()
	x, err := on.Load(t.Context(), d.program, device.Capacity{Rows: rows, Replicas: 1})
	if err != nil {
		t.Fatalf("%v\n%v", d, err)
	}
	defer x.Close()
	state, inputs := d.tensors(rows)
	for name, v := range state {
		if err := x.Write(t.Context(), name, v); err != nil {
			t.Fatal(err)
		}
	}
	o, err := x.Run(t.Context(), device.Step{Function: graph.Predict, Rows: []int{rows}, Inputs: inputs})
	if err != nil {
		t.Fatalf("%v\n%v", d, err)
	}
	return o.Outputs
}
