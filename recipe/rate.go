package recipe

import (
	"strconv"
	"strings"

	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/problem"
)

// SetLR writes the learning rate into r. text is "X", or "X@B" for the rate X at a batch of B, which
// is scaled linearly to the batch of r, or "" for the default of the model. The error is a
// *problem.Error.
func (r *Recipe) SetLR(text string) error {
	rate, base, scaled := strings.Cut(text, "@")
	if rate == "" {
		r.LR = models.DefaultLR(r.Model)
		return nil
	}
	var err error
	if r.LR, err = strconv.ParseFloat(rate, 64); err != nil {
		return problem.New("lr", strconv.Quote(text), strconv.Quote(rate)+" is not a number", "")
	}
	if scaled {
		n, err := strconv.Atoi(base)
		if err != nil || n < 1 {
			return problem.New("lr", strconv.Quote(text), strconv.Quote(base)+" is not a batch", "")
		}
		r.LR = r.LR * float64(r.StepBatch()) / float64(n)
	}
	return nil
}
