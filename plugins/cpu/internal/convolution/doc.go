// Package convolution builds the actions of products with a weight: convolutions,
// transposed ones, dense products, and the gradients of all of them.
//
// conv.go and convgrad.go say which algorithm a node takes. Each algorithm has a
// file that describes the loops over rows, workers and blocks; the inner loops are
// in package kernel.
package convolution
