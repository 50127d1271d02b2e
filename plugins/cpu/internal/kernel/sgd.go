package kernel

// SGD has the parameters of a step of gradient descent with momentum.
type SGD struct {
	Momentum, Decay, Rate float32
	Nesterov              bool
}

// sgdStep is the assembly for one step.
type sgdStep func(w1, v1, w, dw, v *float32, momentum, decay, rate float32, count int)

// Step sets w1 and v1 to the weights and the velocities after w and v. g is the
// gradient of w:
//
//	d = g + decay*w (g if decay is 0), v1 = momentum*v + d, w1 = w - rate*u
//
// where u is v1, or with Nesterov d + momentum*v1. Every operation is rounded. w1
// may be w, and v1 v.
func (s *Set) Step(w1, v1, w, g, v []float32, o SGD) {
	v1, w, g, v = v1[:len(w1)], w[:len(w1)], g[:len(w1)], v[:len(w1)]
	n := 0
	if do := s.elements.step(o); do != nil {
		if n = s.elements.wholeVectors(len(w1)); n > 0 {
			do(&w1[0], &v1[0], &w[0], &g[0], &v[0], o.Momentum, o.Decay, o.Rate, n)
		}
	}
	for i := n; i < len(w1); i++ {
		d := g[i]
		if o.Decay != 0 {
			d = g[i] + float32(o.Decay*w[i])
		}
		next := float32(o.Momentum*v[i]) + d
		u := next
		if o.Nesterov {
			u = d + float32(o.Momentum*next)
		}
		w1[i], v1[i] = w[i]-float32(o.Rate*u), next
	}
}

// step returns the assembly for these parameters, or nil.
func (e *elements) step(o SGD) sgdStep {
	if e == nil {
		return nil
	}
	decay, nesterov := 0, 0
	if o.Decay != 0 {
		decay = 1
	}
	if o.Nesterov {
		nesterov = 1
	}
	return e.sgd[decay][nesterov]
}
