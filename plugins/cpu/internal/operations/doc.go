// Package operations builds the actions of everything but products with a weight:
// normalisation, activations, pooling, arithmetic, moving of elements, losses,
// optimizers, and sums over rows and replicas.
package operations
