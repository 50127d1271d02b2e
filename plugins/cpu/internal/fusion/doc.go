// Package fusion rewrites functions so that fewer nodes pass over memory. Batch norms of
// state become part of the weights before them. Elementwise operations after a product or a
// normalisation become its epilogue.
package fusion
