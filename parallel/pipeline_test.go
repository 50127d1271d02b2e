package parallel_test

import (
	"bytes"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/bnctl/bnctl/device/ref"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/parallel"
	"github.com/bnctl/bnctl/parallel/stage"
	"github.com/bnctl/bnctl/tensor"
)

// small is a network whose first layer is read by its last too.
const small = `bnctl graph 1
graph "small"

state a.weight f32[6,4] weight he_normal(0)
state b.weight f32[6,6] weight he_normal(0)
state c.weight f32[3,6] weight he_normal(0)

func main(x rows f32[4]) {
  a = dense(x, @a.weight)
  a.relu = relu(a)
  b = dense(a.relu, @b.weight)
  b.add = add(b, a.relu)
  c = dense(b.add, @c.weight)
  return logits rows = c
  return inner rows = a.relu
}
`

func smallModel(t *testing.T) (*models.Model, *graph.Program) {
	t.Helper()
	g, err := graph.ParseGraph([]byte(small))
	if err != nil {
		t.Fatal(err)
	}
	m := &models.Model{Architecture: "small", Graph: g, State: map[string]tensor.Tensor{}}
	if err := models.Init(m, 1); err != nil {
		t.Fatal(err)
	}
	p, err := parallel.PredictProgram(g)
	if err != nil {
		t.Fatal(err)
	}
	return m, p
}

func refs(n int) (list []parallel.Member) {
	for i := range n {
		name := fmt.Sprintf("ref:%d", i)
		list = append(list, parallel.Member{Name: name, Device: ref.New(name)})
	}
	return list
}

// TestPipelinePredictsAsOneDevice: stages and columns change no bit, in calls that overlap and
// whose rows are no multiple of those of a wave.
func TestPipelinePredictsAsOneDevice(t *testing.T) {
	m, program := smallModel(t)
	x, err := models.RandomInput(m, 23)
	if err != nil {
		t.Fatal(err)
	}
	one, err := parallel.Open(t.Context(), program, m.State, refs(1), parallel.Config{Replicas: 1, Batch: 8})
	if err != nil {
		t.Fatal(err)
	}
	defer one.Close()
	want, err := one.Predict(t.Context(), x)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		stages  string
		devices int
	}{{"2", 2}, {"3", 3}, {"2", 4}, {"b.add", 2}, {"b,c", 3}, {"auto", 1}} {
		s, err := stage.Parse(c.stages)
		if err != nil {
			t.Fatal(err)
		}
		p, err := parallel.OpenPipeline(t.Context(), m.Graph, program, s, m.State, refs(c.devices),
			parallel.Config{Batch: 8})
		if err != nil {
			t.Fatal(c, err)
		}
		var all sync.WaitGroup
		for range 3 {
			all.Go(func() {
				got, err := p.Predict(t.Context(), x)
				if err != nil {
					t.Error(c, err)
					return
				}
				for i := range want {
					if !bytes.Equal(got[i].Bytes, want[i].Bytes) {
						t.Errorf("%v: output %d is %v, want %v", c, i, got[i].F32(), want[i].F32())
					}
				}
			})
		}
		all.Wait()
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestStagesThatCannotBe: each gets a sentence that says where, what and what to do.
func TestStagesThatCannotBe(t *testing.T) {
	m, program := smallModel(t)
	for _, c := range []struct {
		stages  string
		devices int
		want    string
	}{
		{"2", 3, "3 devices cannot be dealt to 2 stages alike"},
		{"9", 9, "the network has 5 layers"},
		{"nothing", 2, "the network has no layer of that name"},
		{"a", 2, "the first stage begins with it anyway"},
		{"c,b", 3, "it does not come behind c"},
	} {
		s, err := stage.Parse(c.stages)
		if err != nil {
			t.Fatal(err)
		}
		_, err = parallel.OpenPipeline(t.Context(), m.Graph, program, s, m.State, refs(c.devices),
			parallel.Config{Batch: 8})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: got %v", c, err)
		}
	}
	for _, text := range []string{"0", "-1"} {
		if _, err := stage.Parse(text); err == nil {
			t.Errorf("%q is taken", text)
		}
	}
}
