// Package estimation computes the running statistics of batch norm again: the exact moments of samples with
// fixed weights.
//
// Use package modelfile/doctor to repair a model file, and this package with a model and devices. Open
// loads the forward pass of training on devices, and Reestimate runs it over data.
package estimation
