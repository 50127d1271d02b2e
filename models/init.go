package models

import (
	"fmt"
	"hash/fnv"
	"math"
	"runtime"
	"sync"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/tensor"
)

// Init fills the state of m with new tensors by the rules that its graph declares. A
// tensor's elements depend on the seed and on its name, rule and shape alone, so two
// models have the same elements where these agree.
func Init(m *Model, seed uint64) error {
	p := tensor.NewPhilox(seed, tensor.StreamInit)
	state := make(map[string]tensor.Tensor, len(m.Graph.State))
	for _, s := range m.Graph.State {
		t := tensor.New(s.DType, s.Shape...)
		if err := initialise(t, s, p); err != nil {
			return fmt.Errorf("model %s: initialising %s: %w", m.Architecture, s.Name, err)
		}
		state[s.Name] = t
	}
	m.State = state
	return nil
}

func initialise(t tensor.Tensor, s graph.State, p tensor.Philox) error {
	if s.Init.Rule == "zeros" {
		return nil
	}
	if t.DType != tensor.F32 {
		return fmt.Errorf("rule %s makes f32, the tensor is %v", s.Init.Rule, t)
	}
	d, err := distributionOf(s)
	if err == nil {
		d.fill(t.F32(), p, sampleOf(s.Name))
	}
	return err
}

// sampleOf turns the name of a tensor into the sample number that selects its random
// numbers.
func sampleOf(name string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(name)) // never fails
	return h.Sum64()
}

// distribution is the distribution of random elements: centre plus spread times a random
// number, which is standard normal if normal is set, otherwise uniform in [-1, 1).
type distribution struct {
	centre, spread float64
	normal         bool
}

// distributionOf resolves a rule for a shape. He: Delving Deep into
// Rectifiers, 2015, eq. 10; Xavier: Glorot and Bengio 2010, eq. 12 and 16.
func distributionOf(s graph.State) (distribution, error) {
	in, out := fans(s.Shape)
	he := in
	if argOr0(s.Init, 0) == 1 {
		he = out
	}
	switch s.Init.Rule {
	case "":
		return distribution{}, problem.Advise("read it from a file", "the graph has no rule for it")
	case "ones":
		return distribution{centre: 1}, nil
	case "constant":
		return distribution{centre: argOr0(s.Init, 0)}, nil
	case "normal":
		return distribution{spread: argOr0(s.Init, 0), normal: true}, nil
	case "uniform":
		return distribution{spread: argOr0(s.Init, 0)}, nil
	case "he_normal":
		return distribution{spread: math.Sqrt(2 / he), normal: true}, nil
	case "he_uniform":
		return distribution{spread: math.Sqrt(6 / he)}, nil
	case "xavier_normal":
		return distribution{spread: math.Sqrt(2 / (in + out)), normal: true}, nil
	case "xavier_uniform":
		return distribution{spread: math.Sqrt(6 / (in + out))}, nil
	}
	return distribution{}, fmt.Errorf("unknown rule %q", s.Init.Rule)
}

// fans returns the fan-in and the fan-out of a kernel: the number of inputs of an output, and the
// number of outputs of an input.
func fans(shape []int) (in, out float64) {
	if len(shape) < 2 {
		n := float64(tensor.Count(shape))
		return n, n
	}
	window := tensor.Count(shape[2:])
	return float64(shape[1] * window), float64(shape[0] * window)
}

func argOr0(i graph.Init, n int) float64 {
	if n < len(i.Args) {
		return i.Args[n]
	}
	return 0
}

// fill draws dst, in parallel: element e is made from word e%4 of block e/4.
func (d distribution) fill(dst []float32, p tensor.Philox, sample uint64) {
	const chunk = 1 << 16
	var wg sync.WaitGroup
	running := make(chan struct{}, runtime.GOMAXPROCS(0))
	for at := 0; at < len(dst); at += chunk {
		running <- struct{}{}
		wg.Go(func() {
			d.fillFrom(dst[at:min(at+chunk, len(dst))], p, sample, uint32(at/4))
			<-running
		})
	}
	wg.Wait()
}

func (d distribution) fillFrom(dst []float32, p tensor.Philox, sample uint64, block uint32) {
	for len(dst) > 0 {
		v := d.four(p, sample, block)
		dst = dst[copy(dst, v[:]):]
		block++
	}
}

// four returns the four random elements that one block of the generator gives.
func (d distribution) four(p tensor.Philox, sample uint64, block uint32) (v [4]float32) {
	if d.spread == 0 {
		c := float32(d.centre)
		return [4]float32{c, c, c, c}
	}
	w := p.Block(0, sample, block)
	for i := 0; i < 4; i += 2 {
		a, b := signed(w[i]), signed(w[i+1])
		if d.normal {
			a, b = tensor.NormalPair(w[i], w[i+1])
		}
		v[i], v[i+1] = float32(d.centre+float64(d.spread*a)), float32(d.centre+float64(d.spread*b))
	}
	return v
}

// signed turns a word into a number in [-1, 1).
func signed(w uint32) float64 { return float64(2*float64(tensor.Unit(w))) - 1 }
