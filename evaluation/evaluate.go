package evaluation

import (
	"context"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/tensor"
)

// Predictor runs a model in eval mode on rows. Package parallel's Driver
// implements it.
type Predictor interface {
	// Predict returns the outputs of the model for x, [N, ...]: each with N rows.
	Predict(ctx context.Context, x tensor.Tensor) ([]tensor.Tensor, error)
}

// reuser is a Predictor that can use the memory of returned outputs again for later outputs.
type reuser interface{ Reuse(outputs []tensor.Tensor) }

// Evaluation has the figures of a model on a labelled data set. A sample has one label. With Masks it has a
// label for each pixel, and with MultiLabel it has several labels, which all count. With Targets it has
// numbers instead, and Correct stays 0.
type Evaluation struct {
	Samples   int     // number of predicted samples
	Counted   int     // labels that are not ignored
	Correct   int     // the first maximum is the label
	Top5      int     // the score of the label is among the five largest
	NotFinite int     // labels with scores without a maximum (models.HasArgmax): wrong, and not in Confusion
	LossSum   float64 // cross-entropies, summed in sample order
	PerClass  []ClassCount
	Confusion Confusion

	// Masks reports whether labels are masks, with a class for each pixel. Then a sample has many labels, and
	// the overlaps of classes (IoU) are defined.
	Masks bool

	// PerPixel is set if a sample has a class for each pixel, as a mask or as an array of labels. Then the
	// overlaps of classes (IoU) are defined.
	PerPixel bool

	// MultiLabel reports whether labels do not exclude each other. Then Labels has the counts of each label, and
	// there is no Confusion. Judged is the number of samples with at least one known label. Exact is the number
	// of samples of Judged with correct predictions of all known labels.
	MultiLabel    bool
	Labels        []LabelCount
	Exact, Judged int
	// Targets has the errors of numbers; nil for labels.
	Targets []TargetError

	boxes        *boxes    // nil unless labels are boxes
	areas        *areas    // the scores, if AUROC is the criterion
	thresholds   []float64 // the probability from which on each label is predicted; nil: above a half
	loss         TrainingLoss
	classWeights []float64 // weights of classes in the loss; nil: 1
	WeightSum    float64   // sum of the weights of all labels
	observers    Observers
}

// ClassCount has the number of labels of one class, how many of them were predicted, and how often the
// class was predicted for any label.
type ClassCount struct{ N, Correct, Predicted int }

// Accuracy returns the share of labels that were predicted, 0 to 1; 0 without
// labels.
func (e *Evaluation) Accuracy() float64 { return quotient(float64(e.Correct), float64(e.Counted)) }

// Top5Accuracy returns the share of labels that are among the five classes with the largest outputs, 0 to 1.
// Of classes with equal outputs, the lower class comes first.
func (e *Evaluation) Top5Accuracy() float64 { return quotient(float64(e.Top5), float64(e.Counted)) }

// Loss returns the mean cross-entropy per label, in natural logarithms; 0 without
// labels.
func (e *Evaluation) Loss() float64 { return quotient(e.LossSum, e.WeightSum) }

// newEvaluation returns an evaluation for data with this info. It has no samples yet.
func newEvaluation(info data.Info, l Loss) *Evaluation {
	e := &Evaluation{Masks: info.Masks, PerPixel: info.IsPerPixel(), MultiLabel: info.MultiLabel,
		loss: TrainingLoss{Loss: l}}
	for range info.Targets {
		e.Targets = append(e.Targets, TargetError{})
	}
	return e
}

// NewTraining returns an evaluation without samples yet. It computes the same loss as training, with
// smoothing and weights. classWeights may be nil.
func NewTraining(info data.Info, l TrainingLoss, classWeights []float64) *Evaluation {
	e := newEvaluation(info, l.Loss)
	e.loss, e.classWeights = l, classWeights
	return e
}

// Run predicts every sample of a source once, in order, o.Batch rows at a time. The figures depend neither on
// the batch nor on devices. The model's first output, f32 [N, C, ...], is interpreted as logits of C classes,
// or as probabilities if o.Probabilities is set. The error comes from the source or from p, or reports that
// the labels do not fit the output: see Fits.
func Run(ctx context.Context, p Predictor, src data.Source, o Options) (*Evaluation, error) {
	l, err := data.NewLoader(ctx, src, data.Plan{Batch: o.Batch, Workers: o.Workers, Epochs: 1,
		Transform: o.Transform, Select: o.wanted()})
	if err != nil {
		return nil, err
	}
	defer l.Close()
	e := newEvaluation(src.Info(), o.Loss)
	if e.boxes, err = newBoxes(src.Info(), o.Form, o.Transform.Height, o.Transform.Width); err != nil {
		return nil, err
	}
	e.thresholds = o.Thresholds
	if e.observers = o.Observers; o.KeepScores {
		e.areas = new(areas)
		e.observers = e.areas.observers(o.Observers)
	}
	for {
		b, err := l.Next()
		if err == io.EOF {
			return e, nil
		}
		if err != nil {
			return nil, err
		}
		outs, err := p.Predict(ctx, b.X)
		if err != nil {
			return nil, err
		}
		if err := e.Add(outs[0], b.Labels, o.Probabilities); err != nil {
			return nil, err
		}
		if r, ok := p.(reuser); ok {
			r.Reuse(outs)
		}
		b.Release()
		if o.Done != nil {
			o.Done(e.Samples)
		}
	}
}

// wanted returns a function that selects the rows of a batch that must be read, or nil if all rows must be
// read.
func (o *Options) wanted() func(data.Position, int) func(row int) bool {
	if o.OwnRows == nil {
		return nil
	}
	return func(_ data.Position, rows int) func(row int) bool {
		from, to := o.OwnRows(rows)
		return func(row int) bool { return row >= from && row < to }
	}
}

// Add adds N rows to the figures: scores f32 [N,C,...] and labels i32 [N,...], with a label for each position
// of the scores. A label of -1 is ignored. Scores are logits, or probabilities. If labels do not exclude each
// other, or are numbers, they are i32 [N,K], in the form of data.Source. It is an error if shapes or types do
// not fit each other.
func (e *Evaluation) Add(scores, labels tensor.Tensor, probabilities bool) error {
	if len(scores.Shape) < 2 {
		return fmt.Errorf("the model's output is %v: it has no classes to evaluate", scores)
	}
	n, classes := scores.Shape[0], scores.Shape[1]
	if e.boxes != nil {
		return e.addBoxes(scores, labels)
	}
	if e.MultiLabel || e.Targets != nil {
		return e.addElements(scores, labels, probabilities)
	}
	perSample := tensor.Count(scores.Shape[2:])
	if labels.Count() != n*perSample {
		return fmt.Errorf("labels are %v for an output of %v", labels, scores)
	}
	if e.PerClass == nil {
		e.PerClass, e.Confusion = make([]ClassCount, classes), NewConfusion(classes)
	}
	s, l, z := scores.F32(), labels.I32(), make([]float64, classes)
	for i := range n {
		for j := range perSample {
			for c := range classes {
				z[c] = float64(s[(i*classes+c)*perSample+j])
			}
			if err := e.addSample(e.Samples+i, z, int(l[i*perSample+j]), probabilities); err != nil {
				return err
			}
		}
		if e.observers.ObserveMask != nil && e.Masks {
			e.observers.ObserveMask(e.Samples+i, l[i*perSample:(i+1)*perSample], scores.Rows(i, i+1))
		}
	}
	e.Samples += n
	return nil
}

// addSample adds the scores z and the label of one sample or pixel to the figures. A label of -1 is ignored.
func (e *Evaluation) addSample(sample int, z []float64, label int, probabilities bool) error {
	if label == -1 {
		return nil
	}
	if label < 0 || label >= len(z) {
		return fmt.Errorf("label %d of a model with %s", label, problem.Plural(len(z), "class"))
	}
	best, above := 0, 0
	for c, v := range z {
		if v > z[best] {
			best = c
		}
		if v > z[label] || v == z[label] && c < label {
			above++
		}
	}
	e.Counted++
	e.PerClass[label].N++
	if models.HasArgmax(z) {
		e.met(label, best, above)
	} else {
		e.NotFinite++
	}
	weight := 1.0
	if e.classWeights != nil {
		weight = e.classWeights[label]
	}
	e.WeightSum += weight
	margin := math.NaN()
	if len(z) == 2 && !probabilities {
		margin = z[1] - z[0]
	}
	logs := logShares(z, probabilities)
	if len(z) == 2 && probabilities {
		margin = logs[1] - logs[0]
	}
	if e.classWeights != nil && e.loss.Smoothing > 0 {
		e.LossSum += weightedCrossEntropy(logs, label, e.loss.Smoothing, e.classWeights)
	} else {
		e.LossSum += float64(weight * crossEntropy(logs, label, e.loss.Smoothing))
	}
	if e.observers.Observe != nil && !e.Masks {
		e.observers.Observe(sample, label, logs, margin)
	}
	return nil
}

// met counts a label together with the predicted class. above is the number of classes with a larger score
// than the label's class.
func (e *Evaluation) met(label, predicted, above int) {
	e.Confusion.Add(label, predicted, 1)
	e.PerClass[predicted].Predicted++
	if predicted == label {
		e.Correct++
		e.PerClass[label].Correct++
	}
	if above < 5 {
		e.Top5++
	}
}

// logShares turns logits, or probabilities, into the logarithms of
// probabilities, in place.
func logShares(z []float64, probabilities bool) []float64 {
	if probabilities {
		for c, p := range z {
			z[c] = tensor.Log(max(p, 1e-300))
		}
		return z
	}
	top, sum := slices.Max(z), 0.0
	for _, v := range z {
		sum += tensor.Exp(v - top)
	}
	total := tensor.Log(sum) + top
	for c := range z {
		z[c] -= total
	}
	return z
}

// crossEntropy returns the cross-entropy of a prediction with a label. logs are the logarithms of the
// predicted probabilities. smoothing is the share of the label that is spread over all classes.
func crossEntropy(logs []float64, label int, smoothing float64) float64 {
	loss := -logs[label]
	if smoothing == 0 {
		return loss
	}
	mean := 0.0
	for _, v := range logs {
		mean -= v / float64(len(logs))
	}
	return loss + float64(smoothing*(mean-loss))
}

// weightedCrossEntropy is like crossEntropy but with a weight for each class.
func weightedCrossEntropy(logs []float64, label int, smoothing float64, weights []float64) float64 {
	loss := 0.0
	for c, v := range logs {
		target := smoothing / float64(len(logs))
		if c == label {
			target += 1 - smoothing
		}
		if target *= weights[c]; target != 0 {
			loss -= float64(target * v)
		}
	}
	return loss
}

// Options determine how a data set is read for an evaluation. Batch and Workers change
// only the speed.
type Options struct {
	Batch, Workers int            // rows at once, at least 1; number of goroutines that read, 0: one a core
	Transform      data.Transform // how samples become input: see func Transform
	Loss           Loss           // loss for the figure Loss: see LossOf
	Form           graph.BoxForm  // form of the output of a detector
	Probabilities  bool           // the output has passed a softmax: see Loss.Probabilities
	Thresholds     []float64      // models.Model.Thresholds, for labels that do not exclude each other
	// OwnRows returns the range of rows of a batch that this process must read. With several ranks,
	// parallel.Driver gets the outputs of the other rows from other ranks. nil: all rows.
	OwnRows func(rows int) (from, to int)
	Observers

	KeepScores bool              // keeps the scores, from which AUROC is computed
	Done       func(samples int) // called after each batch; may be nil
}

// Observers are functions that are called with the predictions of an evaluation, one by one.
type Observers struct {
	// Observe is called with each label that is counted, the index of its sample, and the logarithms of the
	// probabilities of all classes, which Observe may not keep. For two classes, margin is the logarithm of
	// their odds: the difference of the logits. Equal differences give equal margins, although logs are rounded.
	// For other numbers of classes margin is NaN. Observe is not called for masks, and may be nil.
	Observe func(sample, label int, logs []float64, margin float64)
	// ObserveAll is called instead of Observe if a sample has several labels, or numbers. It receives the
	// sample's label and the predicted logits or numbers. It must keep neither, and may be nil.
	ObserveAll func(sample int, label []int32, answer []float64)
	// ObserveMask is called instead of Observe if a sample has a mask. It receives the mask and the scores, f32
	// [1,C,H,W]. It must keep neither, and may be nil.
	ObserveMask func(sample int, label []int32, scores tensor.Tensor)
}
