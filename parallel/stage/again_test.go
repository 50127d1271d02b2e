package stage_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/bn"
	"github.com/bnctl/bnctl/graph"
)

// TestCutsOfWhatIsComputedAgain checks networks with recomputed activations: a stage may begin with any
// layer. Gradients have the bits of one device that keeps the activations, and every recomputed value is
// read.
func TestCutsOfWhatIsComputedAgain(t *testing.T) {
	g := parse(t, chain(4))
	crossed := 0
	for _, mode := range []bn.Mode{bn.Replica, bn.Sync} {
		r := recipeOf(mode)
		r.AuxWeight = 0
		p, state := programOf(t, g, r)
		m := newMachine(t, state)
		in := m.batch(p.Function(graph.Train))
		want := m.onOne(p, in)
		for name := range want {
			if !strings.HasPrefix(name, "grad:") {
				delete(want, name)
			}
		}
		q := recomputed(t, p)
		for first := 1; first < len(g.Main.Nodes); first++ {
			if mode != bn.Replica && first%4 != 0 {
				continue
			}
			shares := programs(t, g, q, first)
			runs := [][]int{{0, 1, 2, 3}}
			if mode != bn.Sync {
				runs = [][]int{{0}, {1}, {2}, {3}}
			}
			same(t, fmt.Sprint(mode, first), m.stepped(shares, in, runs), want)
			made := 0
			for _, share := range shares {
				made += unread(t, share.Function(graph.Backward))
			}
			if made < len(computedAgain(q.Function(graph.Train))) {
				crossed++
			}
		}
	}
	if crossed == 0 {
		t.Error("no cut has divided what is computed again")
	}
}

// chain returns a network with the given number of blocks, enough to recompute some of it.
func chain(blocks int) string {
	state, nodes, at := "", "", "x"
	for i := range blocks {
		b := fmt.Sprintf("b%d", i)
		state += fmt.Sprintf("state %s.weight f32[2,2,3,3] weight he_normal(0)\n", b)
		for _, s := range []string{"gamma f32[2] gamma ones", "beta f32[2] beta zeros", "mean f32[2] mean zeros",
			"variance f32[2] variance ones"} {
			state += fmt.Sprintf("state %s.bn.%s\n", b, s)
		}
		nodes += fmt.Sprintf("  %[1]s = conv(%[2]s, @%[1]s.weight, pad=[1,1,1,1])\n"+
			"  %[1]s.bn = batch_norm(%[1]s, @%[1]s.bn.gamma, @%[1]s.bn.beta, @%[1]s.bn.mean, @%[1]s.bn.variance)\n"+
			"  %[1]s.relu = relu(%[1]s.bn)\n", b, at)
		at = b + ".relu"
	}
	return fmt.Sprintf("bnctl graph 1\ngraph \"chain\"\n\n%sstate fc.weight f32[3,2] weight he_normal(0)\n\n"+
		"func main(x rows f32[2,5,5]) {\n%s  pool = global_avg_pool(%s)\n  flat = reshape(pool, shape=[2])\n"+
		"  fc = dense(flat, @fc.weight)\n  softmax = softmax(fc)\n  return probabilities rows = softmax\n}\n",
		state, nodes, at)
}

// recomputed returns p with its activations computed again.
func recomputed(t *testing.T, p *graph.Program) *graph.Program {
	t.Helper()
	q := *p
	q.Functions = slices.Clone(p.Functions)
	for i, f := range q.Functions {
		if f.Name != graph.Train {
			continue
		}
		again, err := graph.Recompute(f, p.State, nil)
		if err != nil || len(computedAgain(again)) == 0 {
			t.Fatal(err, "nothing is computed again")
		}
		q.Functions[i] = again
	}
	return &q
}

// computedAgain returns the results of the recomputing nodes of f.
func computedAgain(f *graph.Function) (list []graph.Value) {
	for i := range f.Nodes {
		if strings.Contains(f.NodeName(&f.Nodes[i]), ".again") {
			list = append(list, f.Nodes[i].Out...)
		}
	}
	return list
}

// unread returns the number of recomputing nodes, after checking that each is read.
func unread(t *testing.T, f *graph.Function) int {
	t.Helper()
	if f == nil {
		return 0
	}
	users, list := f.Users(), computedAgain(f)
	for _, v := range list {
		isOutput := slices.ContainsFunc(f.Outputs, func(o graph.Output) bool { return o.Value == v })
		if len(users[v]) == 0 && !isOutput {
			t.Errorf("nobody reads %s", f.Values[v].Name)
		}
	}
	return len(list)
}
