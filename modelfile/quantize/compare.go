package quantize

import (
	"context"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/tensor"
)

// losses returns the error of each template made of p: the sum of squared differences from
// p's outputs, divided by the sum of squares of p's outputs, over all outputs.
func (p *prepared) losses(ctx context.Context, s *samples, templates []*built) ([]float64, error) {
	models := []*models.Model{p.Model}
	for _, b := range templates {
		models = append(models, b.Model)
	}
	n := len(p.Graph.Main.Outputs)
	signal, noise := make([]float64, n), make([]float64, n*len(templates))
	err := s.each(ctx, func(outputs [][]tensor.Tensor) error {
		for o := range n {
			for i := range templates {
				x, y := signalAndNoise(outputs[0][o], outputs[1+i][o], nil)
				noise[i*n+o] += y
				if i == 0 {
					signal[o] += x
				}
			}
		}
		return nil
	}, models...)
	losses := make([]float64, len(templates))
	for i := range noise {
		losses[i/n] += noise[i] / max(signal[i%n], 1e-300)
	}
	return losses, err
}

// signalAndNoise returns the sum of squares of x, and of the difference between x and y. The
// channels of y are divided by divisors.
func signalAndNoise(x, y tensor.Tensor, divisors []float64) (signal, noise float64) {
	if x.DType != tensor.F32 || y.DType != tensor.F32 {
		return 0, 0
	}
	line, got := tensor.Count(x.Shape[min(2, len(x.Shape)):]), y.F32()
	for i, w := range x.F32() {
		v := float64(got[i])
		if divisors != nil {
			v *= divisors[i/line%len(divisors)]
		}
		off := float64(w) - v
		signal += float64(float64(w) * float64(w))
		noise += float64(off * off)
	}
	return signal, noise
}

// compare runs p and the template made from it, and sets the signal to noise of its layers.
func (p *prepared) compare(ctx context.Context, s *samples, b *built) error {
	var mine, its []graph.Value
	var per [][]float64
	table := append([]graph.State{}, b.Graph.State...)
	more := graph.Extend(b.Graph.Main, &table)
	for _, l := range b.layers {
		if q, ok := b.bytes[l.value]; ok && l.Range != nil {
			mine, per = append(mine, l.value), append(per, q.divisors)
			name := more.UniqueName(b.Graph.Main.Values[q.value].Name + ".measured")
			its = append(its, more.Op(graph.Dequantize, name, []graph.Value{q.value}, "scale", q.scale.factor, "zero",
				q.scale.zero))
		}
	}
	main, err := more.Function()
	if err != nil {
		return err
	}
	bytes := *b.Model
	bytes.Graph = &graph.Graph{Name: b.Graph.Name, State: table, Main: main}
	numbers, err := withOutputs(p.Model, mine)
	if err != nil {
		return err
	}
	measured, err := withOutputs(&bytes, its)
	if err != nil {
		return err
	}
	signal, noise := make([]float64, len(mine)), make([]float64, len(mine))
	first := len(p.Graph.Main.Outputs)
	err = s.each(ctx, func(outputs [][]tensor.Tensor) error {
		for i := range mine {
			x, y := signalAndNoise(outputs[0][first+i], outputs[1][first+i], per[i])
			signal[i], noise[i] = signal[i]+x, noise[i]+y
		}
		return nil
	}, numbers, measured)
	i := 0
	for k := range b.layers {
		if l := &b.layers[k]; l.Range != nil {
			l.Noise = decibels(signal[i], noise[i])
			i++
		}
	}
	return err
}
