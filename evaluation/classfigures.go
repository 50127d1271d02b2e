package evaluation

// PerLabel returns precision, recall and F1 of a class against all others. Precision is the share of the
// predictions of the class that are right, recall is the share of the labels of the class that are predicted,
// and F1 is their harmonic mean. A figure without a denominator is NaN. If the scores of a sample are not
// finite, no class is predicted, and its label counts as missed.
func (e *Evaluation) PerLabel(class int) (precision, recall, f1 Figure) {
	k := &e.PerClass[class]
	met, labels, predicted := float64(k.Correct), float64(k.N), float64(k.Predicted)
	return fraction(met, predicted), fraction(met, labels), fraction(2*met, labels+predicted)
}

// Macro returns two means over classes: the mean of F1 over the classes that are a label or were predicted,
// and the mean of recall over the classes that are a label. Without any such class both are NaN.
func (e *Evaluation) Macro() (f1, recall Figure) {
	var nF1, nRecall Figure
	for class := range e.PerClass {
		_, r, f := e.PerLabel(class)
		if f == f {
			f1, nF1 = f1+f, nF1+1
		}
		if r == r {
			recall, nRecall = recall+r, nRecall+1
		}
	}
	return f1 / nF1, recall / nRecall
}
