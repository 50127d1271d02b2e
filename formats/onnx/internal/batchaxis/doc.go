// Package batchaxis has a rule for each operator that accepts values with a batch at
// another axis than the first. A rule returns where the batch is in the results, or an
// error if the operator mixes the rows of the batch. Rules read shapes and attributes only.
package batchaxis
