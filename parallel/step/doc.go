// Package step has the data of training steps: the batch that a step reads, its result, and the ledger of the
// steps since a snapshot, from which the present state can be computed again. Its types are values without
// devices; use it to read a result, or to make a batch. Package parallel makes the steps on devices.
package step
