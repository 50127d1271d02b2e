// Package run is what a compiled function is made of and how it runs.
//
// A Compiler stands at one node, and its Builder returns an Action, of one of three
// kinds: AtOnce does everything at once, an Exchange meets other devices, ByRows
// computes rows, and positions of rows if it has Spans. Values know where they
// lie in memory, a Frame is one run, a Group is what runs between two barriers,
// and in a Group a Chain of actions passes over a row while it is in the cache.
//
// The packages above it make actions (convolution, operations) and put them in
// order (plan).
package run
