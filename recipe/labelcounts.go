package recipe

import (
	"context"
	"fmt"

	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/problem"
)

// fewMasks is the number of masks with counted pixels if the counts serve only for a hint.
const fewMasks = 100

// eachCount calls do with the number of labels of each class in a sample, for all samples of src.
func eachCount(ctx context.Context, src data.Source, do func(counts []int64)) error {
	return countEach(ctx, src, 1, do)
}

// countEach does the same as eachCount, for each n-th sample.
func countEach(ctx context.Context, src data.Source, n int, do func(counts []int64)) error {
	info := src.Info()
	for i := 0; i < info.Len; i += n {
		label, err := src.Label(ctx, i)
		if err != nil {
			return err
		}
		do(CountClasses(label, len(info.Classes)))
	}
	return nil
}

// labelCounts returns the number of labels of each class of src.
func labelCounts(ctx context.Context, src data.Source) ([]int64, error) {
	return countLabels(ctx, src, 1)
}

// countLabels returns the number of labels of each class in each n-th sample.
func countLabels(ctx context.Context, src data.Source, n int) ([]int64, error) {
	of := make([]int64, len(src.Info().Classes))
	err := countEach(ctx, src, n, func(here []int64) {
		for class, n := range here {
			of[class] += n
		}
	})
	return of, err
}

// CountClasses returns the number of labels of each class.
func CountClasses(labels []int32, classes int) []int64 {
	n := make([]int64, classes)
	for _, l := range labels {
		if l >= 0 && int(l) < classes {
			n[l]++
		}
	}
	return n
}

// Imbalance returns a sentence if the classes of src are imbalanced, or "". They are if more than half of
// the samples (with two classes more than two thirds) are of one class, or if a class has less than a tenth
// of the samples of another. For masks it counts pixels, of at most a hundred masks, and examines only the
// first condition.
func Imbalance(ctx context.Context, src data.Source) (string, error) {
	info := src.Info()
	if !info.Labelled || !info.Masks && len(info.LabelShape) > 0 || len(info.Classes) < 2 {
		return "", nil
	}
	most := 1.0 / 2
	if len(info.Classes) == 2 { // one of two classes has at least half of the samples
		most = 2.0 / 3
	}
	step := 1
	if info.Masks {
		step = (info.Len + fewMasks - 1) / fewMasks
	}
	of, err := countLabels(ctx, src, step)
	if err != nil {
		return "", err
	}
	all := int64(info.Len)
	if info.Masks {
		all = 0
		for _, n := range of {
			all += n
		}
	}
	for class, n := range of {
		if float64(n) > most*float64(all) {
			return imbalanced(info, step, class, n, all), nil
		}
	}
	if info.Masks {
		return "", nil
	}
	return rare(info, of), nil
}

// rareRatio determines when a class is rare: if another has more than this multiple of its
// samples.
const rareRatio = 10

// rare returns a sentence if the smallest class has less than a tenth of the samples of the largest.
func rare(info data.Info, counts []int64) string {
	least, most := -1, 0
	for class, n := range counts {
		if n > 0 && (least < 0 || n < counts[least]) {
			least = class
		}
		if n > counts[most] {
			most = class
		}
	}
	if least < 0 || counts[least]*rareRatio >= counts[most] {
		return ""
	}
	return fmt.Sprintf("class %s has %s and class %s has %d, and nothing weighs them: {class-weights} balanced "+
		"does; {save} best:balanced-accuracy or best:f1 counts all classes alike", info.Classes[least],
		problem.Plural(int(counts[least]), "sample"), info.Classes[most], counts[most])
}

// AutoWeights returns a sentence about the effect of "auto" in ClassWeights in a recipe
// that SetData has filled in.
func (r *Recipe) AutoWeights(info data.Info) string {
	weights, err := r.WeightsOfClasses(0)
	switch {
	case r.Sampling != "":
		return "{class-weights} auto does nothing together with {sampling}"
	case info.Boxes || info.MultiLabel || info.Targets != nil || err != nil:
		return "{class-weights} auto does nothing: it is for classes that exclude each other"
	case weights == nil:
		return "{class-weights} auto does nothing: no class has most samples, or less than a tenth of another's"
	}
	low, high := 0, 0
	for class, w := range weights {
		if w < weights[low] {
			low = class
		}
		if w > weights[high] {
			high = class
		}
	}
	return fmt.Sprintf("{class-weights} auto is balanced: from %.3g of class %s to %.3g of class %s",
		weights[low], info.Classes[low], weights[high], info.Classes[high])
}

// imbalanced returns the sentence that n of total labels are of a class.
func imbalanced(info data.Info, step, class int, n, total int64) string {
	const advice = "and nothing weighs them: {class-weights} balanced"
	if !info.Masks {
		return fmt.Sprintf("%d of %s are of class %s, %s does", n, problem.Plural(int(total), "sample"),
			info.Classes[class], advice)
	}
	of := problem.Plural((info.Len+step-1)/step, "mask")
	return fmt.Sprintf("%.0f %% of the pixels of %s are of class %s, %s or median does",
		100*float64(n)/float64(total), of, info.Classes[class], advice)
}
