// Package batchaxis has a rule for each operator that accepts values whose batch is not their first axis:
// where the batch is in the results, or that the operator mixes the rows of the batch. Rules read shapes and
// attributes only.
package batchaxis
