// Package batchaxis has a rule for each operator that accepts values with the batch at another axis than the
// first: where the batch is in the results, or that the operator mixes the rows of the batch. Rules read
// shapes and attributes only.
package batchaxis
