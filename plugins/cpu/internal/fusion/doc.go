// Package fusion rewrites functions so that fewer nodes pass over memory. Batch
// norms of state become part of the weights before them, and what follows a
// product or a normalisation element by element becomes its epilogue.
package fusion
