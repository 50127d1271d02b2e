package models

import (
	"fmt"
	"math"

	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/tensor"
)

// WithThresholds returns m with a threshold from 0 to 1 for each number of its first output: a sample has a
// label if its probability is at least the threshold. nil removes the thresholds.
func WithThresholds(m *Model, thresholds []float64) (*Model, error) {
	out := *m
	out.Thresholds = thresholds
	return &out, out.checkThresholds()
}

func (m *Model) checkThresholds() error {
	if m.Thresholds == nil {
		return nil
	}
	if n := m.outputElements(0); !m.Scores(0) && !m.line(0) || len(m.Thresholds) != n {
		return fmt.Errorf("model %s has %s for an output %s of %v: want one for each of its probabilities",
			m.Architecture, problem.Plural(len(m.Thresholds), "threshold"), m.Graph.Main.Outputs[0].Name,
			m.outputType(0))
	}
	for _, t := range m.Thresholds {
		if !(t >= 0 && t <= 1) {
			return fmt.Errorf("model %s: a threshold is %g; want a probability from 0 to 1", m.Architecture, t)
		}
	}
	return nil
}

// Holds reports whether label k, which does not exclude others, holds for its logit. Its
// probability must be at least thresholds[k] or, if thresholds is nil, above a half.
func Holds(thresholds []float64, k int, logit float64) bool {
	if thresholds == nil {
		return logit > 0
	}
	return float64(float32(Sigmoid(logit))) >= thresholds[k] // probabilities are float32
}

// Sigmoid returns the probability of the logit of a label that does not exclude others, NaN for NaN.
func Sigmoid(logit float64) float64 {
	if e := tensor.Exp(-math.Abs(logit)); logit < 0 {
		return e / (1 + e)
	} else {
		return 1 / (1 + e) // NaN for NaN
	}
}
