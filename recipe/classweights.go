package recipe

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/problem"
)

// These are the values of Recipe.ClassWeights that compute weights from the frequencies of classes.
// "median" divides the median frequency by the frequency of the class (Eigen and Fergus 2015, section
// 6.3.2). "balanced" divides the number of all labels by the number of classes and by the number of
// labels of the class.
const (
	medianWeights   = "median"
	balancedWeights = "balanced"
	autoWeights     = "auto" // "balanced" if Imbalance finds an imbalance, otherwise no weights
)

// WeightsOfClasses returns the weight of each class, or nil if the recipe has no weights. Classes that the
// data does not have get the weight 1.
func (r *Recipe) WeightsOfClasses(classes int) ([]float64, error) {
	if r.ClassWeights == "" {
		return nil, nil
	}
	weights, err := r.weightsIn("class-weights", r.ClassWeights, "class", classes)
	if err == nil && slices.Max(weights) == 0 {
		err = problem.New("class-weights", strconv.Quote(r.ClassWeights), "no class has a weight", "")
	}
	return weights, err
}

// weightsIn reads the weights of an option, one for each class of the data, and adds 1 for
// further classes of a model.
func (r *Recipe) weightsIn(option, text, subject string, classes int) (weights []float64, err error) {
	refuse := func(why, advice string) error { return problem.New(option, strconv.Quote(text), why, advice) }
	for text := range strings.SplitSeq(text, ",") {
		w, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
		if err != nil || !(w >= 0 && w <= math.MaxFloat32) {
			known := "want balanced, or a number for each " + subject
			switch option {
			case "class-weights":
				known = "want balanced, auto, median, or a number for each class"
			case "sampling":
				known = "want balanced, column, or a number for each class"
			}
			return nil, refuse(strconv.Quote(text)+" is not a weight", known)
		}
		weights = append(weights, w)
	}
	if len(weights) != r.Data.Classes {
		return nil, refuse(fmt.Sprintf("%s for the %s of the data", problem.Plural(len(weights), "weight"),
			problem.Plural(r.Data.Classes, subject)), "")
	}
	for len(weights) < classes {
		weights = append(weights, 1)
	}
	return weights, nil
}

// medianFrequencies returns the weights for "median": the median of the frequencies of the
// classes, over the frequency of each. The frequency of a class is its share of the
// labelled pixels of the pictures that contain it. A class that never occurs weighs 1.
func medianFrequencies(ctx context.Context, src data.Source) (string, error) {
	info := src.Info()
	if !info.Masks {
		return "", problem.New("class-weights", medianWeights, "it is for masks, and labels of "+info.Kind+
			" are none", "give a number for each class")
	}
	of, in := make([]int64, len(info.Classes)), make([]int64, len(info.Classes))
	err := eachCount(ctx, src, func(here []int64) {
		all := int64(0)
		for _, n := range here {
			all += n
		}
		for class, n := range here {
			if n > 0 {
				of[class], in[class] = of[class]+n, in[class]+all
			}
		}
	})
	if err != nil {
		return "", err
	}
	frequency, all := make([]float64, len(of)), []float64(nil)
	for class, n := range of {
		if n > 0 {
			frequency[class] = float64(n) / float64(in[class])
			all = append(all, frequency[class])
		}
	}
	slices.Sort(all)
	texts := make([]string, len(of))
	for class, f := range frequency {
		weight := 1.0
		if f > 0 {
			weight = (all[(len(all)-1)/2] + all[len(all)/2]) / 2 / f
		}
		texts[class] = strconv.FormatFloat(weight, 'g', -1, 64)
	}
	return strings.Join(texts, ","), nil
}

// autoFrequencies returns the weights for "auto".
func autoFrequencies(ctx context.Context, src data.Source) (string, error) {
	text, err := Imbalance(ctx, src)
	if err != nil || text == "" {
		return "", err
	}
	return balancedFrequencies(ctx, src)
}

// balancedFrequencies returns the weights for "balanced". A class without a label weighs 1.
func balancedFrequencies(ctx context.Context, src data.Source) (string, error) {
	info := src.Info()
	if len(info.Classes) == 0 {
		return "", problem.New("class-weights", balancedWeights, "labels of "+info.Kind+" are not classes",
			"leave it out")
	}
	if info.Boxes {
		return "", weighsNoBoxes("class-weights")
	}
	if info.MultiLabel {
		return "", problem.New("class-weights", balancedWeights,
			"it has no meaning for labels that do not exclude each other", "weigh their positives with {pos-weights}")
	}
	of, err := labelCounts(ctx, src)
	if err != nil {
		return "", err
	}
	all, present := int64(0), 0
	for _, n := range of {
		all += n
		if n > 0 {
			present++
		}
	}
	texts := make([]string, len(of))
	for class, n := range of {
		weight := 1.0
		if n > 0 {
			weight = float64(all) / (float64(present) * float64(n))
		}
		texts[class] = strconv.FormatFloat(weight, 'g', -1, 64)
	}
	return strings.Join(texts, ","), nil
}
