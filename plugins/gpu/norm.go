package gpu

import "github.com/bnctl/bnctl/graph"

// normOps are the operations of batch norm (docs/numerics.md, section 1).
var normOps = map[graph.Op]func(c *compiler){
	graph.RunningMoments:      buildRunningMoments,
	graph.SelectMoments:       buildSelectMoments,
	graph.Normalise:           buildNormalise,
	graph.NormaliseGradInput:  buildNormaliseGradInput,
	graph.NormaliseGradParams: buildNormaliseGradParams,
	graph.BatchNorm:           buildBatchNorm,
}

// affine acquires a slot for the factors and addends of a normalisation. It has some for each channel of
// each unit.
func (c *compiler) affine(kind graph.Kind, channels int) *slot { return c.temp(kind, 5*4*channels) }

func buildRunningMoments(c *compiler) {
	mean, variance, m := c.in(0), c.in(1), c.out(0)
	c.launch("running_moments", graph.Whole, m.count, mean, variance, m, m.count, mean.count)
}

func buildSelectMoments(c *compiler) {
	m, running, y := c.in(0), c.in(1), c.out(0)
	c.launch("select_moments", y.Kind, y.count, m, running, y, y.count, float64(c.node.Int("min")))
}

// normalise launches a normalisation with the factors and addends in slot a. of relates the units of a to
// the units of the rows.
func (c *compiler) normalise(a *slot, of int) {
	x, y := c.in(0), c.out(0)
	args := append([]any{x, a, y, y.count, of, y.channels()}, c.epilogue(1)...)
	c.launch("normalise", y.Kind, y.count, args...)
}

func buildNormalise(c *compiler) {
	m, gamma, beta, y := c.in(1), c.in(2), c.in(3), c.out(0)
	a := c.affine(m.Kind, gamma.count)
	c.launch("affine_of_moments", m.Kind, gamma.count, m, gamma, beta, a, gamma.count, c.node.Float("eps"))
	c.normalise(a, unitsOf(m, y.Kind))
}

func buildBatchNorm(c *compiler) {
	gamma, beta, mean, variance := c.in(1), c.in(2), c.in(3), c.in(4)
	a := c.private(5 * 4 * gamma.count)
	c.launchOnChange([]*value{gamma, beta, mean, variance}, func() {
		c.launch("affine_of_state", graph.Whole, gamma.count, gamma, beta, mean, variance, a, gamma.count,
			c.node.Float("eps"))
	})
	c.normalise(a, ofWhole)
}

func buildNormaliseGradInput(c *compiler) {
	x, dy, m, sums, gamma, dx := c.in(0), c.in(1), c.in(2), c.in(3), c.in(4), c.out(0)
	a := c.affine(m.Kind, gamma.count)
	c.launch("affine_of_gradient", m.Kind, gamma.count, m, sums, gamma, a, gamma.count, c.node.Float("eps"))
	c.launch("normalise_back", dx.Kind, dx.count, x, dy, a, dx, c.exe.owner, dx.count, unitsOf(m, dx.Kind),
		dx.channels())
}

func buildNormaliseGradParams(c *compiler) {
	m, sums, dgamma, dbeta := c.in(0), c.in(1), c.out(0), c.out(1)
	c.launch("normalise_params", sums.Kind, dgamma.count, m, sums, dgamma, dbeta, dgamma.count,
		unitsOf(m, sums.Kind), c.node.Float("eps"))
}
