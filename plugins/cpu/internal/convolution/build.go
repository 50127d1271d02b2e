package convolution

import (
	"github.com/bnctl/bnctl/device/class"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/plugins/cpu/internal/plan"
	"github.com/bnctl/bnctl/plugins/cpu/internal/run"
)

// A Builder determines the geometry (nil if it refuses the node), selects the algorithm, and returns an
// action. Each algorithm stores its packed weights under a key that identifies the weights and their order.
// So train, predict and estimate share them.

// Ops are the convolutions and dense products.
var Ops = map[graph.Op]func(c *plan.Compiler) run.Action{
	graph.Conv:            buildConv,
	graph.ConvGradInput:   buildConvGradInput,
	graph.ConvGradWeight:  buildConvGradWeight,
	graph.ConvTranspose:   buildConvTranspose,
	graph.Dense:           buildDense,
	graph.DenseGradInput:  buildDenseGradInput,
	graph.DenseGradWeight: buildDenseGradWeight,
	graph.ConvInt8:        buildConvInt8,
	graph.DenseInt8:       buildDenseInt8,
}

// geometryOf returns the geometry of the current node's layer, or nil after it has refused
// the node.
func geometryOf(c *plan.Compiler) *Geometry {
	l, _ := c.Layer()
	g := NewGeometry(l.Window, []int{l.C, l.H, l.W}, []int{l.O, l.OH, l.OW})
	if why := g.TooLarge(l.Product); why != "" {
		c.Refuse(why)
		return nil
	}
	return g
}

// choose returns the algorithm of the current node, which is a product.
func choose(c *plan.Compiler) class.Algorithm {
	l, _ := c.Layer()
	return class.Choose(l, c.Precision(), c.Kernels().Class)
}
