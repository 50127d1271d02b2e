// Package batchaxis has a rule for each operator that accepts values with a batch axis other than the
// first axis. A rule returns the batch axis of the results, or an error if the operator mixes the rows
// of the batch. Rules only read shapes and attributes.
package batchaxis
