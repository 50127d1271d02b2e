package train

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/parallel/spmd"
	"github.com/bnctl/bnctl/parallel/weightsync"
	"github.com/bnctl/bnctl/recipe"
	"github.com/bnctl/bnctl/tensor"
)

// Names of hyper-parameters: inputs of the commit function.
const (
	hyperLR   = "lr"
	hyperStep = "adam.step" // lr/(1-beta1^t)
	hyperRoot = "adam.root" // 1/sqrt(1-beta2^t)

	hyperAverage = "ema.rate" // 1 - decay of the averages
)

const (
	adamBeta1 = 0.9
	adamBeta2 = 0.999
	adamEps   = 1e-8
	larsEta   = 0.001
)

// isAdam reports whether an optimizer keeps moments of gradients.
func isAdam(optimizer string) bool { return optimizer == "adam" || optimizer == "adamw" }

// commitFunction makes the function that turns the whole gradients of the trained tensors
// into the next state. It adds the optimizer's tensors to table.
func commitFunction(r *recipe.Recipe, table *[]graph.State, trained []string) (*graph.Function, error) {
	if !slices.Contains(recipe.Optimizers(), r.Optimizer) {
		return nil, fmt.Errorf("unknown optimizer %q; there are %v", r.Optimizer, recipe.Optimizers())
	}
	c := &commit{r: r, table: table, b: graph.NewBuilder(graph.Commit, table)}
	grads := make([]graph.Value, len(trained))
	for i, name := range trained {
		s := c.state(name)
		if r.HasLateGradients() {
			grads[i] = c.b.Declare(weightsync.DueState(s))
			continue
		}
		grads[i] = c.b.Input(spmd.Gradient(name), graph.Type{Kind: graph.Whole, DType: s.DType, Shape: s.Shape})
	}
	c.hyper = map[string]graph.Value{}
	for _, factor := range append([]float64{1}, r.LRFactors()...) {
		c.scalar(scaledHyper(hyperLR, factor))
		if isAdam(r.Optimizer) {
			c.scalar(scaledHyper(hyperStep, factor))
		}
	}
	if isAdam(r.Optimizer) {
		c.scalar(hyperRoot)
	}
	if r.EMAWarmup {
		c.scalar(hyperAverage)
	}
	if r.ClipNorm > 0 {
		c.clip(trained, grads)
	}
	for i, name := range trained {
		c.update(name, grads[i])
	}
	return c.b.Function()
}

type commit struct {
	r     *recipe.Recipe
	table *[]graph.State
	b     *graph.Builder
	hyper map[string]graph.Value // hyperparameters by name
}

func (c *commit) scalar(name string) {
	c.hyper[name] = c.b.Input(name, graph.Type{Kind: graph.Whole, DType: tensor.F32})
}

// rate returns the learning rate of a tensor, or another hyper-parameter that scales with the rate.
func (c *commit) rate(hyper, name string) graph.Value {
	return c.hyper[scaledHyper(hyper, c.r.LRFactor(name))]
}

func (c *commit) state(name string) graph.State {
	i := slices.IndexFunc(*c.table, func(s graph.State) bool { return s.Name == name })
	return (*c.table)[i]
}

// stateTensor declares a tensor of the optimizer for the state tensor name.
func (c *commit) stateTensor(kind, name string, role graph.Role) (string, graph.Value) {
	s := c.state(name)
	tensorName := kind + "/" + name
	return tensorName, c.b.Declare(graph.State{Name: tensorName, DType: s.DType, Shape: s.Shape, Role: role,
		Init: graph.Init{Rule: "zeros"}})
}

// clip scales all gradients so that their norm over all tensors is at most ClipNorm.
func (c *commit) clip(trained []string, grads []graph.Value) {
	var total graph.Value
	for i, name := range trained {
		sum := c.b.Op(graph.SumSquares, name+".squares", []graph.Value{grads[i]})
		if i == 0 {
			total = sum
			continue
		}
		total = c.b.Op(graph.Add, name+".norm", []graph.Value{total, sum})
	}
	factor := c.b.Op(graph.ClipFactor, "clip", []graph.Value{total}, "max", c.r.ClipNorm)
	for i, name := range trained {
		grads[i] = c.b.Op(graph.Mul, name+".clipped", []graph.Value{grads[i], factor})
	}
}

// decay returns the weight decay of a tensor.
func (c *commit) decay(name string) float64 {
	if c.r.DecayAll || c.state(name).Role == graph.Weight {
		return c.r.WeightDecay
	}
	return 0
}

// update adds the update of one trained tensor.
func (c *commit) update(name string, g graph.Value) {
	w := c.b.Read(name)
	var next graph.Value
	switch c.r.Optimizer {
	case "adam":
		next = c.adam(name, w, c.decayed(name, w, g), 0)
	case "adamw":
		next = c.adam(name, w, g, c.decay(name))
	case "lars":
		next = c.lars(name, w, g)
	default:
		next = c.sgd(name, w, g)
	}
	c.b.Update(name, next)
	if c.r.EMA > 0 {
		c.average(name, next)
	}
}

// average adds the update of the average of a tensor: by graph.EMA, or in a warm-up by the same formula
// with a rate of the step.
func (c *commit) average(name string, next graph.Value) {
	tensorName, average := c.stateTensor("average", name, graph.Average)
	if !c.r.EMAWarmup {
		c.b.Update(tensorName, c.b.Op(graph.EMA, name+".average", []graph.Value{average, next}, "decay", c.r.EMA))
		return
	}
	moved := c.b.Op(graph.Sub, name+".moved", []graph.Value{next, average})
	scaled := c.b.Op(graph.Mul, name+".scaled", []graph.Value{moved, c.hyper[hyperAverage]})
	c.b.Update(tensorName, c.b.Op(graph.Add, name+".average", []graph.Value{average, scaled}))
}

func (c *commit) sgd(name string, w, g graph.Value) graph.Value {
	tensorName, v := c.stateTensor("velocity", name, graph.Optimizer)
	attrs := graph.Attrs{}.With("momentum", c.r.Momentum).With("weight_decay", c.decay(name)).With("nesterov",
		c.r.Nesterov)
	return c.opWithState(graph.SGD, name, tensorName, attrs, w, g, v, c.rate(hyperLR, name))
}

func (c *commit) lars(name string, w, g graph.Value) graph.Value {
	tensorName, v := c.stateTensor("velocity", name, graph.Optimizer)
	decay := c.decay(name)
	attrs := graph.Attrs{}.With("momentum", c.r.Momentum).With("weight_decay", decay)
	if decay == 0 { // gamma, beta and bias use the plain rate
		return c.opWithState(graph.SGD, name, tensorName, attrs, w, g, v, c.rate(hyperLR, name))
	}
	a := c.b.Op(graph.SumSquares, name+".weight_norm", []graph.Value{w})
	b := c.b.Op(graph.SumSquares, name+".gradient_norm", []graph.Value{g})
	ratio := c.b.Op(graph.TrustRatio, name+".ratio", []graph.Value{a, b}, "eta", larsEta, "weight_decay", decay)
	return c.opWithState(graph.LARS, name, tensorName, attrs, w, g, v, c.rate(hyperLR, name), ratio)
}

// opWithState adds an operation that yields the next weight and the next velocity.
func (c *commit) opWithState(op graph.Op, name, tensorName string, attrs graph.Attrs,
	in ...graph.Value) graph.Value {
	out := c.b.Node(op, name+".next", attrs, in...)
	if len(out) < 2 {
		return graph.None
	}
	c.b.Update(tensorName, out[1])
	return out[0]
}

// decayed returns the gradient of a tensor plus its weight decay. This is the velocity of SGD without
// momentum.
func (c *commit) decayed(name string, w, g graph.Value) graph.Value {
	decay := c.decay(name)
	if decay == 0 {
		return g
	}
	attrs := graph.Attrs{}.With("momentum", 0.0).With("weight_decay", decay)
	out := c.b.Node(graph.SGD, name+".decayed", attrs, w, g, g, c.rate(hyperLR, name))
	if len(out) < 2 {
		return graph.None
	}
	return out[1]
}

func (c *commit) adam(name string, w, g graph.Value, decay float64) graph.Value {
	first, m := c.stateTensor("adam.m", name, graph.Optimizer)
	second, v := c.stateTensor("adam.v", name, graph.Optimizer)
	attrs := graph.Attrs{}.With("beta1", adamBeta1).With("beta2", adamBeta2).With("eps", adamEps).
		With("weight_decay", decay)
	out := c.b.Node(graph.AdamW, name+".next", attrs, w, g, m, v, c.rate(hyperLR, name),
		c.rate(hyperStep, name), c.hyper[hyperRoot])
	if len(out) < 3 {
		return graph.None
	}
	c.b.Update(first, out[1])
	c.b.Update(second, out[2])
	return out[0]
}

// Hyper returns the hyper-parameters of a step, counted from 0. reductions is the number of times that a
// plateau schedule has reduced the rate before the step.
func Hyper(r *recipe.Recipe, s recipe.Schedule, step, reductions int) device.Hyper {
	lr := s.RateReduced(step, reductions)
	h := device.Hyper{}
	for _, factor := range append([]float64{1}, r.LRFactors()...) {
		h[scaledHyper(hyperLR, factor)] = float32(lr * factor)
		if isAdam(r.Optimizer) {
			h[scaledHyper(hyperStep, factor)] = float32(lr * factor / (1 - power(adamBeta1, step+1)))
		}
	}
	if isAdam(r.Optimizer) {
		h[hyperRoot] = float32(1 / math.Sqrt(1-power(adamBeta2, step+1)))
	}
	if r.EMAWarmup {
		h[hyperAverage] = float32(1 - averageDecay(r.EMA, step))
	}
	return h
}

// averageDecay returns the decay of the averages after a step, counted from 0: at most (1+n)/(10+n) after n
// steps, as in TensorFlow's ExponentialMovingAverage with num_updates. So the weights of the first steps,
// which are far from a good model, soon have no influence.
func averageDecay(decay float64, step int) float64 {
	n := float64(step)
	return min(decay, (1+n)/(10+n))
}

// power returns x to the n by squaring: the same bits on every machine.
func power(x float64, n int) float64 {
	p := 1.0
	for ; n > 0; n >>= 1 {
		if n&1 == 1 {
			p *= x
		}
		x *= x
	}
	return p
}

// scaledHyper is the name of a hyper-parameter of tensors with a factor.
func scaledHyper(name string, factor float64) string {
	if factor == 1 {
		return name
	}
	return name + ".x" + strconv.FormatFloat(factor, 'f', -1, 64)
}
