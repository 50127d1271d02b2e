// Package collective adds what replicas computed, in one order.
//
// Use it to write a transport of sums between devices, or a device: what trains
// calls package parallel.
//
// The order is a canonical binary tree over the R replicas of a run (see Node), so
// that the sum depends on the replicas alone: not on how many devices hold them,
// which device holds which, or who arrives first. A device combines the aligned
// subtrees that it holds; the rest is combined across devices along the same
// tree. Transports move bytes; only this package adds.
package collective
