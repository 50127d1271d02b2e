package stage

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/bnctl/bnctl/device/class"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/problem"
)

// Network is a template to be divided. Stages consist of its nodes, in their order.
type Network struct {
	main    *graph.Function
	numbers map[string]int // numbers of nodes, by the names of their results
	makers  []int          // maker of each value: the number of its node, or -1
	follows map[int]int    // nodes that stay with an earlier one: a norm with its product
	users   [][]int        // readers of each value
	rounds  bool           // value of Spec.BF16
}

// New returns the network of a template.
func New(template *graph.Graph) (*Network, error) {
	n := &Network{main: template.Main, numbers: map[string]int{}, follows: map[int]int{},
		makers: slices.Repeat([]int{-1}, len(template.Main.Values)), users: template.Main.Users()}
	for i := range n.main.Nodes {
		for _, v := range n.main.Nodes[i].Out {
			n.makers[v], n.numbers[n.main.Values[v].Name] = i, i
		}
	}
	answers, err := template.WithoutAuxiliary()
	if err != nil {
		return nil, err
	}
	for _, g := range []*graph.Graph{template, answers} {
		if err := n.fold(g); err != nil {
			return nil, err
		}
	}
	return n, nil
}

// fold notes which norms a device of any class folds into products when it predicts with g.
func (n *Network) fold(g *graph.Graph) error {
	fn, err := graph.Eval(g.Main, g.State)
	if err != nil {
		return err
	}
	_, norms := class.Fold(fn)
	for v, norm := range norms {
		n.follows[n.numbers[fn.Values[v].Name]] = n.numbers[fn.Values[norm.Product].Name]
	}
	return nil
}

// Layers returns the names of the nodes, in order. The name of a node is the name of its first
// result.
func (n *Network) Layers() []string {
	names := make([]string, len(n.main.Nodes))
	for i := range names {
		names[i] = n.main.NodeName(&n.main.Nodes[i])
	}
	return names
}

// Find returns the number of the node that begins a stage if the stage is to begin with the named
// layer: the node with this name, or else the first node with a name that continues it after a dot
// or a slash.
func (n *Network) Find(layer string) (int, error) {
	names := n.Layers()
	if i := slices.Index(names, layer); i >= 0 {
		return i, nil
	}
	i := slices.IndexFunc(names, func(name string) bool {
		rest, ok := strings.CutPrefix(name, layer)
		return ok && layer != "" && (rest[0] == '.' || rest[0] == '/')
	})
	if i < 0 {
		unknown := problem.New("stages", layer, "the network has no layer of that name",
			"look them up in the text of its graph")
		unknown.Known = names
		return 0, unknown
	}
	return i, nil
}

// Divide returns the division with stages that begin with the nodes of these numbers, in
// increasing order. The first stage begins with the first node and is not listed.
func (n *Network) Divide(begin []int) (*Division, error) {
	d := &Division{stages: len(begin) + 1, network: n, node: make([]int, len(n.main.Nodes))}
	for k, b := range begin {
		if b < 1 || b >= len(d.node) || k > 0 && b <= begin[k-1] {
			return nil, problem.New("stages", strconv.Itoa(d.stages), fmt.Sprintf("stage %d begins with node "+
				"%d of %d, or before the one before it", k+1, b, len(d.node)),
				"name layers in their order, from the second stage on")
		}
		for i := b; i < len(d.node); i++ {
			d.node[i] = k + 1
		}
	}
	for norm, product := range n.follows {
		d.node[norm] = d.node[product]
	}
	for i := len(d.node) - 1; i >= 0; i-- {
		d.pull(i)
	}
	for s := range d.stages {
		if !slices.Contains(d.node, s) {
			return nil, problem.New("stages", strconv.Itoa(d.stages), fmt.Sprintf("stage %d has no layer: a norm "+
				"stays with the product before it", s+1), "leave out one of the layers with which stages begin")
		}
	}
	return d, nil
}

// pull moves node i to the stage of its earliest reader if that stage is earlier. A node that
// depends only on state always moves there.
func (d *Division) pull(i int) {
	fn := d.network.main
	first := d.stages
	for _, v := range fn.Nodes[i].Out {
		for _, reader := range d.network.users[v] {
			first = min(first, d.node[reader])
		}
	}
	whole := len(fn.Nodes[i].Out) > 0 && fn.Values[fn.Nodes[i].Out[0]].Type.Kind == graph.Whole
	if first < d.node[i] || whole && first < d.stages {
		d.node[i] = first
	}
}
