package tensorflow

import (
	"fmt"
	"slices"

	"github.com/bnctl/bnctl/formats/internal/foreign"
	"github.com/bnctl/bnctl/problem"
)

// takeAverages replaces variables by their averages, like variables_to_restore() of
// tf.train.ExponentialMovingAverage. Variables without an average, mostly running
// statistics, are kept.
func (l *loader) takeAverages() error {
	if len(l.averages) == 0 {
		return problem.Failure("ema", "the checkpoint holds no averages of its variables", "leave it out")
	}
	average := map[string]foreign.Tensor{}
	for _, t := range l.averages {
		average[t.Name] = t
	}
	var as []string
	for i, t := range l.Tensors {
		a, ok := average[t.Name]
		if !ok {
			as = append(as, t.Name)
			continue
		}
		if a.DType != t.DType || !slices.Equal(a.Shape, t.Shape) {
			return fmt.Errorf("the average of %v is %v", t, a)
		}
		l.Tensors[i] = a
		delete(average, t.Name)
	}
	for _, t := range l.averages { // averages of variables that the checkpoint does not have
		if _, alone := average[t.Name]; alone {
			l.Tensors = append(l.Tensors, t)
		}
	}
	text := fmt.Sprintf("the averages of %s were taken", problem.Plural(len(l.averages), "variable"))
	if len(as) > 0 {
		text += fmt.Sprintf("; %s as they are, having none: %s", problem.Plural(len(as), "variable"),
			foreign.List(as))
	}
	l.Find("", text, "")
	return nil
}
