package devicetest

import (
	"context"
	"fmt"

	"github.com/bnctl/bnctl/device/collective"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// reductions returns a program with three all-reduces of replica inputs: f32 and f64
// sums, and moments. The three follow each other, so they make one exchange.
func reductions() (*graph.Program, error) {
	p := &graph.Program{Name: "reductions"}
	b := graph.NewBuilder("reduce", &p.State)
	for _, c := range reduced {
		x := b.Input(c.name, graph.Type{Kind: graph.Replica, DType: c.dtype, Shape: c.shape})
		b.Output(c.name, b.Op(graph.AllReduce, "sum."+c.name, []graph.Value{x}, "of", c.of), false)
	}
	f, err := b.Function()
	p.Functions = []*graph.Function{f}
	return p, err
}

var reduced = []struct {
	name  string
	dtype tensor.DType
	shape []int
	of    string
	op    collective.Op
	fill  filler
}{
	{"weights", tensor.F32, []int{3, 5}, "sum", collective.Sum, spread},
	{"sums", tensor.F64, []int{7}, "sum", collective.Sum, spread},
	{"moments", tensor.F64, []int{9}, "moments", collective.MergeMoments, momentsOf(4)},
}

// spans lists the numbers of rows of the replicas in each check of the reductions.
var spans = [][]int{{1}, {0}, {1, 1}, {0, 2}, {3, 0, 2}, {0, 0, 0}, {1, 2, 3, 4, 5}, {1, 0, 2, 0, 0, 3, 0},
	{1, 1, 1, 1, 1, 1, 1, 1}, {2, 2, 2, 2, 1, 1, 1, 1, 1}, {}}

// placements are ways in which several devices can hold eight replicas.
var placements = [][][]int{
	{{0, 1, 2, 3, 4, 5, 6, 7}, {}},
	{{0, 1, 2, 3}, {4, 5, 6, 7}},
	{{0, 2, 4, 6}, {1, 3, 5, 7}},
	{{1, 2, 3, 4, 5}, {}, {0, 6, 7}},
	{{7}, {6}, {5}, {4}, {3}, {2}, {1}, {0}},
}

// scattered are placements on devices of several machines. The group of each machine has a
// subtree. The first subtree is only replica 0; a device that ignores Group.Tree would not
// exchange its values.
var scattered = []struct {
	machines  []int
	placement [][]int
}{
	{[]int{0, 1}, [][]int{{0, 1, 2, 3}, {4, 5, 6, 7}}},
	{[]int{0, 1}, [][]int{{0}, {1, 2, 3, 4, 5, 6, 7}}},
	{[]int{0, 1, 1, 2}, [][]int{{0, 1, 2}, {3, 5}, {4}, {6, 7}}},
}

func reduceCases() []Case {
	const rule = "docs/numerics.md, section 4: all sums across replicas follow the canonical tree; " +
		"an empty leaf is skipped"
	cases := []Case{newCase("all_reduce: a device that is alone", rule, reductions, reduceAlone)}
	for _, placement := range placements {
		cases = append(cases, newCase(fmt.Sprintf("all_reduce: replicas held %v", placement), rule, reductions,
			func(ctx context.Context, open Opener) error { return reduceTogether(ctx, open, nil, placement) }))
	}
	const leaves = "Group.Tree: the leaves of the canonical tree. A member is alone only if it holds " +
		"all of them."
	for _, s := range scattered {
		cases = append(cases, newCase(fmt.Sprintf("all_reduce: replicas held %v on machines %v", s.placement,
			s.machines), leaves, reductions, func(ctx context.Context, open Opener) error {
			return reduceTogether(ctx, open, s.machines, s.placement)
		}))
	}
	return cases
}

// reduction returns a setting and its expected results, computed with package collective.
func reduction(rows []int) (*setting, []tensor.Tensor, error) {
	p, err := reductions()
	s := &setting{program: p, function: "reduce", rows: rows}
	draws := tensor.NewPhilox(3, tensor.StreamInit).Draws(uint32(len(rows)), 0)
	var want []tensor.Tensor
	for _, c := range reduced {
		x := tensor.New(c.dtype, append([]int{len(rows)}, c.shape...)...)
		c.fill(&draws, x)
		s.inputs = append(s.inputs, x)
		want = append(want, alongTree(c.op, x, rows))
	}
	return s, want, err
}

// alongTree reduces the first axis of x, skipping replicas without rows.
func alongTree(o collective.Op, x tensor.Tensor, rows []int) tensor.Tensor {
	sum := tensor.Tensor{}
	if len(rows) > 0 {
		sum = collective.Reduce(o, collective.Root(len(rows)), func(r int) tensor.Tensor {
			if rows[r] == 0 {
				return tensor.Tensor{}
			}
			return x.Rows(r, r+1).Clone().Reshape(x.Shape[1:]...)
		})
	}
	if sum.IsZero() {
		return tensor.New(x.DType, x.Shape[1:]...)
	}
	return sum
}

var reducedNames = []string{"f32 sum", "f64 sum", "moments"}

func reduceAlone(ctx context.Context, open Opener) error {
	for _, rows := range spans {
		s, want, err := reduction(rows)
		if err != nil {
			return err
		}
		m, err := loaded(ctx, open, s)
		if err != nil {
			return err
		}
		got, err := s.run(ctx, m.x)
		m.Close()
		if err == nil {
			err = equal(got, want, tensor.Tolerance{}, reducedNames)
		}
		if err != nil {
			return fmt.Errorf("rows %v: %w", rows, err)
		}
	}
	return nil
}

func reduceTogether(ctx context.Context, open Opener, machines []int, placement [][]int) error {
	steps := [][]int{{1, 1, 1, 1, 1, 1, 1, 1}, {0, 3, 0, 0, 2, 1, 0, 4}, {0, 0, 0, 0, 0, 0, 0, 0},
		{0, 0, 0, 0, 0, 1, 0, 0}}
	var group *testGroup
	for number, rows := range steps {
		s, want, err := reduction(rows)
		if err != nil {
			return err
		}
		if group == nil {
			if group, err = openGroupOn(ctx, open, s, machines, placement); err != nil {
				return err
			}
			defer group.close()
		}
		got, err := group.run(ctx, s, uint64(number))
		if err != nil {
			return fmt.Errorf("rows %v: %w", rows, err)
		}
		for rank := range placement {
			if err := equal(got[rank], want, tensor.Tolerance{}, reducedNames); err != nil {
				return fmt.Errorf("rows %v: rank %d: %w", rows, rank, err)
			}
		}
	}
	return nil
}
