// Package spmd turns the graph of a model into functions that devices run on their replicas: a single
// program with multiple data. It depends on graphs only. Use it to make a program, and package parallel
// to run the program.
//
//	Wrap               adds the replica connections to a graph     wrap.go
//	TrainFunction      forward, loss, backward, sums of gradients  program.go
//	EstimateFunction   the moments of the batch norms only         program.go
//	PredictFunction    the graph in eval mode                      program.go
//
// A training function has few exchanges, and the long ones run while the devices compute (reorder.go).
package spmd
