package train

import (
	"context"
	"fmt"

	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/problem"
)

// eachCount calls do with how many labels of each class a sample has, for all samples of src.
func eachCount(ctx context.Context, src data.Source, do func(of []int64)) error {
	info := src.Info()
	for i := range info.Len {
		label, err := src.Label(ctx, i)
		if err != nil {
			return err
		}
		do(countClasses(label, len(info.Classes)))
	}
	return nil
}

// labelCounts returns how many labels each class of src has.
func labelCounts(ctx context.Context, src data.Source) ([]int64, error) {
	of := make([]int64, len(src.Info().Classes))
	err := eachCount(ctx, src, func(here []int64) {
		for class, n := range here {
			of[class] += n
		}
	})
	return of, err
}

// countClasses returns how many labels each class has.
func countClasses(labels []int32, classes int) []int64 {
	n := make([]int64, classes)
	for _, l := range labels {
		if l >= 0 && int(l) < classes {
			n[l]++
		}
	}
	return n
}

// Imbalance returns a sentence if more than half of the samples of src are of one class, of two
// classes more than two thirds; else "". It does not look at masks.
func Imbalance(ctx context.Context, src data.Source) (string, error) {
	info := src.Info()
	if !info.Labelled || info.Masks || len(info.LabelShape) > 0 || len(info.Classes) < 2 {
		return "", nil
	}
	most := 1.0 / 2
	if len(info.Classes) == 2 { // one of them always has half
		most = 2.0 / 3
	}
	of, err := labelCounts(ctx, src)
	if err != nil {
		return "", err
	}
	for class, n := range of {
		if float64(n) > most*float64(info.Len) {
			return fmt.Sprintf("%d of %s are of class %s, and nothing weighs them: {class-weights} balanced does", n,
				problem.Plural(info.Len, "sample"), info.Classes[class]), nil
		}
	}
	return "", nil
}
