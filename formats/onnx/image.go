package onnx

import (
	"cmp"
	"strings"

	"github.com/bnctl/bnctl/formats/internal/foreign"
	"github.com/bnctl/bnctl/formats/onnx/internal/node"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/tensor"
)

// declare adds the input, which has decoded pictures, and the operation image, which replaces
// the absorbed nodes.
func (p *pixels) declare(need []bool) error {
	for _, i := range p.nodes {
		need[i] = false
	}
	x := p.g.Input(p.g.UniqueName(outwardName(p.input, "input")), graph.Type{Kind: graph.Rows,
		DType: tensor.U8, Shape: []int{p.size['H'], p.size['W'], p.size['C']}})
	if p.inputLayout == pictures {
		p.file.Find(p.input, "the file takes pictures as u8 (channels, height, width); here its input is (height, "+
			"width, channels)", "")
	}
	if p.g.Err() != nil {
		return p.g.Err()
	}
	p.values[p.input] = node.Rows(x)
	label := foreign.Clean(p.at, "image")
	if p.layout == pictures {
		p.values[p.at] = node.Rows(p.g.Node(graph.Image, p.g.UniqueName(label), attributesOf(&p.image), x)[0])
		return p.g.Err()
	}
	y := p.g.Node(graph.Image, p.g.UniqueName(label+".image"), attributesOf(&p.image), x)
	perm := make([]int, len(p.layout))
	for i := range perm {
		perm[i] = strings.IndexByte(pictures, p.layout[i])
	}
	p.values[p.at] = node.Rows(p.g.Op(graph.Transpose, p.g.UniqueName(label), y, "perm", perm))
	return p.g.Err()
}

// attributesOf returns the attributes of the operation image for i.
func attributesOf(i *models.Image) (a graph.Attrs) {
	if i.BGR {
		a = a.With("bgr", true)
	}
	a = a.With("scale", i.Scale)
	if i.Mean != nil {
		a = a.With("mean", i.Mean)
	}
	if i.Std != nil {
		a = a.With("std", i.Std)
	}
	return a
}

// remark adds a note if a graph with an input of floats begins with a normalisation of pixels. It
// describes the normalisation, because pictures for this graph must not be normalised before.
func (r *reader) remark(name string, shape []int, need []bool) {
	p := newPixels(r, name, shape, true)
	p.walk(need)
	i := p.image
	if i.Scale == 1 && i.Mean == nil && i.Std == nil {
		return
	}
	r.file.Find(name, "the graph itself normalises it: "+i.InWords(), "say {preprocess} "+i.Takes()+
		" where pictures are to become that input")
}

// outwardName returns the name of an input or output for users. It keeps the colons that TensorFlow
// and PyTorch write.
func outwardName(name, otherwise string) string {
	var clean []string
	for piece := range strings.SplitSeq(name, ":") {
		clean = append(clean, foreign.Clean(piece, ""))
	}
	return cmp.Or(strings.TrimLeft(foreign.Cut(strings.Join(clean, ":")), ":"), otherwise)
}
