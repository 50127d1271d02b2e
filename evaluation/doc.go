// Package evaluation measures a model on labelled data: accuracy, loss, overlaps, errors of numbers, and the
// wrong predictions by class.
//
// Use package predict to evaluate a model file on devices, and this package to evaluate any Predictor. Run
// predicts every sample of a data source once and returns an Evaluation. Its figures depend neither on the
// batch nor on the devices. An Evaluation can also be filled batch by batch, by its method Add. A Criterion
// names the figure by which evaluations are compared. Package estimation computes the running statistics of
// batch norm again from data.
package evaluation
