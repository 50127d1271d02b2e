package fit

import (
	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/tensor"
)

// Zoo builds an architecture of the zoo for this data, without weights. Options that o
// leaves open follow from the data: the classes and the channels. A classifier keeps its
// default size, and pictures are scaled to it. A network with a class for each pixel gets
// the size of the pictures if they all have one size that it supports, else its default
// size.
func Zoo(name string, info data.Info, o models.Options) (*models.Model, error) {
	a, err := models.Lookup(name)
	if err != nil {
		return nil, err
	}
	if !info.Pictures() {
		return nil, problem.Advise("give a model file whose input has that shape",
			"model %s takes images, the samples of %s are %v arrays of f32", name, info.Kind, info.Shape)
	}
	if o.OneOutput = info.MultiLabel || info.Targets != nil || info.Boxes; o.Classes == 0 {
		o.Classes = len(info.Classes) + len(info.Targets)
	}
	return models.Build(name, zooOptions(a, info, o))
}

// zooOptions returns the options of a model of the zoo for pictures of this data. A
// classifier keeps its default size, since the size of pictures is arbitrary, and they are
// scaled. A network with a class for each pixel keeps the pictures' size if all have one
// size that it supports. Channels follow from the data.
func zooOptions(a models.Architecture, info data.Info, o models.Options) models.Options {
	given := o.Input != (models.Size{})
	if !given {
		o.Input = a.Input
	}
	if o.Input.Channels == 0 || !given {
		o.Input.Channels = 3 // pictures of several sizes have three channels
		if len(info.Shape) == 3 {
			o.Input.Channels = info.Shape[2]
		}
	}
	if given || !a.Pixels || len(info.Shape) != 3 {
		return o
	}
	theirs := o
	theirs.Input.Height, theirs.Input.Width = info.Shape[0], info.Shape[1]
	if m, err := models.Build(a.Name, theirs); err != nil || tooManyTaps(m) {
		return o
	}
	return theirs
}

// mostTaps limits the number of elements in all windows of a layer over one picture. Devices have
// tables with an offset for each of them.
const mostTaps = 1 << 26

// tooManyTaps reports whether a window of m covers more positions than the tables of
// devices have offsets for, like a 7x7 window on a photo.
func tooManyTaps(m *models.Model) bool {
	f := m.Graph.Main
	for i := range f.Nodes {
		n := &f.Nodes[i]
		if n.Op != graph.Conv && n.Op != graph.MaxPool && n.Op != graph.AvgPool {
			continue
		}
		window := f.WindowOf(n).Kernel
		slots := 0
		for _, v := range []graph.Value{n.In[0], n.Out[0]} {
			slots = max(slots, tensor.Count(f.Values[v].Type.Shape[1:]))
		}
		if window[0]*window[1]*slots > mostTaps {
			return true
		}
	}
	return false
}
