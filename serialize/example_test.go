package serialize_test

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/serialize"
)

// wrapped is a graph in training by four replicas, as a checkpoint holds it.
const wrapped = `bnctl graph 1
graph "small"
state gamma f32[3] gamma ones
state beta f32[3] beta zeros
state mean f32[3] mean zeros
state var f32[3] variance ones
func main(x rows f32[3,8,8]) {
  x.split = split(x, replicas=4)
  bn.moments = moments(x.split)
  bn.merged = all_reduce(bn.moments, of="moments")
  bn = normalise(x.split, bn.merged, @gamma, @beta)
  track(bn.moments, @mean, @var, decay=0.99)
  bn.gather = gather(bn, replicas=4)
  return logits: rows = bn.gather
}
`

func ExampleStripGraph() {
	g, err := graph.ParseGraph([]byte(wrapped))
	if err != nil {
		fmt.Println(err)
		return
	}
	template, removed, err := serialize.StripGraph(g)
	if err != nil {
		fmt.Println(err)
		return
	}
	for i := range template.Main.Nodes {
		n := &template.Main.Nodes[i]
		fmt.Printf("%s is a %v with decay %g\n", template.Main.NodeName(n), n.Op, n.Float("decay"))
	}
	fmt.Printf("removed: %d nodes of %d replicas\n", removed.Nodes(), removed.Replicas)
	// Output:
	// bn is a batch_norm with decay 0.99
	// removed: 5 nodes of 4 replicas
}

// A template contains no time, path or device, so that the same model has the same bytes.
func ExampleWriteModel() {
	m, err := models.Build("lenet-bn", models.Options{})
	if err == nil {
		err = models.Init(m, 0)
	}
	if err != nil {
		fmt.Println(err)
		return
	}
	folder, err := os.MkdirTemp("", "example")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(folder)
	first, err := serialize.WriteModel(filepath.Join(folder, "a.bnm"), m)
	if err != nil {
		fmt.Println(err)
		return
	}
	second, err := serialize.WriteModel(filepath.Join(folder, "b.bnm"), m)
	fmt.Println(first == second, err)
	// Output: true <nil>
}
