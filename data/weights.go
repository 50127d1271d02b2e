package data

import (
	"math"
	"strconv"

	"github.com/bnctl/bnctl/problem"
)

// weighed is a source that may have a weight for each sample.
type weighed interface{ weights() ([]float64, error) }

// Weights returns the weights of the samples of src, from the column weight of a csv: source, or of several
// that are joined. The error is a *problem.Error about the option sampling without this column, or if
// a weight is not a number of at least 0.
func Weights(src Source) ([]float64, error) {
	if w, ok := src.(weighed); ok {
		return w.weights()
	}
	return nil, noWeights(src.Info().Kind)
}

func noWeights(kind string) error {
	return problem.New("sampling", "column", kind+" has no column of weights",
		"name one of a csv: with {csv-columns} weight=NAME, or give weights of classes")
}

func (p *pictures) weights() ([]float64, error) {
	if !p.weighed {
		return nil, noWeights(p.info.Kind)
	}
	all := make([]float64, len(p.samples))
	for i, s := range p.samples {
		w, err := strconv.ParseFloat(s.weight, 64)
		if err != nil || !(w >= 0 && w <= math.MaxFloat32) {
			return nil, problem.New("sampling", "column", "line "+strconv.Itoa(s.line)+" has the weight "+
				strconv.Quote(s.weight), "write a number from 0 on")
		}
		all[i] = w
	}
	return all, nil
}

func (s *subset) weights() ([]float64, error) {
	whole, err := Weights(s.Source)
	if err != nil {
		return nil, err
	}
	all := make([]float64, len(s.chosen))
	for i, k := range s.chosen {
		all[i] = whole[k]
	}
	return all, nil
}

func (r *relabelled) weights() ([]float64, error) { return Weights(r.Source) }

func (j *joined) weights() (list []float64, err error) {
	for _, src := range j.sources {
		more, err := Weights(src)
		if err != nil {
			return nil, err
		}
		list = append(list, more...)
	}
	return list, nil
}
