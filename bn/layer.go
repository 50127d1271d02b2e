package bn

import (
	"fmt"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// Layer is a batch norm with running statistics.
type Layer struct {
	Name       string // name of the node that normalises
	Mean       string // state tensor of the running means, f32[Channels]
	Variance   string // state tensor of the running variances, f32[Channels]
	Channels   int
	Elements   int     // values that one row gives each channel: height x width
	Decay      float64 // weight of the old value: 0.9 where PyTorch's momentum is 0.1
	Cumulative bool    // weight 1/t instead, t counting the updates
	Biased     bool    // variances are Q/M, as in Keras, not Q/(M-1)
	Eps        float64 // added to the variance before the root; not part of a statistic
}

// Layers returns the batch norms of f in the order of its nodes: batch_norm nodes of a template and
// track nodes of a wrapped graph. It returns an error if the statistics of a node are not state, or
// if the input of a track node does not come from a moments node.
func Layers(f *graph.Function) ([]Layer, error) {
	makers := f.Makers()
	var layers []Layer
	for i := range f.Nodes {
		var l Layer
		var err error
		switch n := &f.Nodes[i]; n.Op {
		case graph.BatchNorm:
			l, err = batchNormLayer(f, n)
		case graph.Track:
			l, err = trackLayer(f, n, makers)
		default:
			continue
		}
		if err != nil {
			return nil, err
		}
		layers = append(layers, l)
	}
	return layers, nil
}

// batchNormLayer reads a batch_norm node.
func batchNormLayer(f *graph.Function, n *graph.Node) (Layer, error) {
	l := layerOf(f, n, n.In[0], n.In[3], n.In[4])
	l.Name, l.Eps = f.NodeName(n), n.Float("eps")
	if l.Mean == "" || l.Variance == "" {
		return l, fmt.Errorf("bn: layer %s: its running mean and variance are not state tensors", l.Name)
	}
	return l, nil
}

// trackLayer reads a track node. The node belongs to the normalise node that uses moments of the
// same value from the same node.
func trackLayer(f *graph.Function, track *graph.Node, makers map[graph.Value]*graph.Node) (Layer, error) {
	source := origin(track.In[0], makers)
	if source == nil || source.Op != graph.Moments {
		return Layer{}, fmt.Errorf("bn: track of %s: it does not come from moments", f.NodeName(track))
	}
	l := layerOf(f, track, source.In[0], track.In[1], track.In[2])
	for i := range f.Nodes {
		n := &f.Nodes[i]
		if n.Op == graph.Normalise && n.In[0] == source.In[0] && origin(n.In[1], makers) == source {
			l.Name, l.Eps = f.NodeName(n), n.Float("eps")
			return l, nil
		}
	}
	return l, fmt.Errorf("bn: track of %s: nothing is normalised with these moments", f.NodeName(track))
}

// layerOf reads the attributes that batch_norm and track share. x is the normalised value.
func layerOf(f *graph.Function, n *graph.Node, x, mean, variance graph.Value) Layer {
	shape := f.Values[x].Type.Shape
	return Layer{
		Mean: f.Values[mean].State, Variance: f.Values[variance].State,
		Channels: shape[0], Elements: tensor.Count(shape[1:]),
		Decay: n.Float("decay"), Cumulative: n.Bool("cumulative"), Biased: n.Text("variance") == "biased",
	}
}

// origin follows moments back through all_reduce and select_moments to the node that made them. It
// returns nil if it finds no such node.
func origin(v graph.Value, makers map[graph.Value]*graph.Node) *graph.Node {
	n := makers[v]
	for n != nil && (n.Op == graph.AllReduce || n.Op == graph.SelectMoments) {
		n = makers[n.In[0]]
	}
	return n
}
