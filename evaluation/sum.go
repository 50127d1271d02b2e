package evaluation

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"math"
)

// Sum returns the SHA-256 of the counts of an evaluation and of the bits of its floating-point sums. Equal
// evaluations have equal sums.
func (e *Evaluation) Sum() string {
	h := sha256.New()
	fmt.Fprintln(h, e.Samples, e.Counted, e.Correct, e.Top5, e.NotFinite, e.Exact, e.Judged)
	hashBits(h, e.LossSum, e.WeightSum)
	for _, c := range e.PerClass {
		fmt.Fprintln(h, c.N, c.Correct, c.Predicted)
	}
	for _, l := range e.Labels {
		fmt.Fprintln(h, l.truePositive, l.falsePositive, l.falseNegative, l.trueNegative)
	}
	for _, t := range e.Targets {
		fmt.Fprintln(h, t.N)
		hashBits(h, t.absolute, t.squares, t.mean, t.deviations)
	}
	if f := e.AveragePrecision(); f != nil {
		hashBits(h, f.AP, f.AP50, f.AR100)
	}
	return hex.EncodeToString(h.Sum(nil))
}

func hashBits(h hash.Hash, values ...float64) {
	for _, v := range values {
		if v != v {
			v = math.NaN() // every NaN has the same bits
		}
		fmt.Fprintf(h, "%016x\n", math.Float64bits(v))
	}
}
