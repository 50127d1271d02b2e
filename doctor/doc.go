// Package doctor looks for what keeps a model from predicting properly, in
// models and in files without a graph: values that are not finite, batch norm
// statistics that cannot be right, that were never updated, or that are
// missing. It repairs statistics by estimating them anew over data.
//
// Use Examine for a file, Of for a model that is open already, and Watch for
// tensors that are on their way from one file to another. Open and Repair mend
// what can be mended: statistics, never weights.
//
// What a finding means, and what is healthy, is said by package bn.
package doctor
