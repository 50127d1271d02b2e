// Package run is the executor of the CPU device: actions to results.
//
// An Action is what a node was compiled to, of one of three kinds: AtOnce does
// everything at once, an Exchange meets other devices, ByRows computes rows, and
// positions of rows if it has Spans. A Linker puts the actions of a function in
// order and gives every Value its place in Memory; a Frame is one run of the
// Function that it returns.
//
//	Function
//	  group      what runs between two barriers: one action, or actions by rows
//	    chain    neighbouring actions, through which a part of a row passes at a time
//	      span   some neighbouring positions (pixels) of a row, while they are in the cache
//
//	Memory
//	  state      tensors of the program, by name
//	  packed     weights in the order in which kernels read them
//	  arena      what a run computes: slots by group, then lanes
//	    lane     the memory of one row while it passes through a group
//
// Every worker takes the next row, or the next piece of a row where rows are few.
// Which one that is depends on time, but no bit of any result does: what a row
// yields is a function of the row, and sums over rows go along a tree that the
// number of rows determines.
//
// The packages above make actions (convolution, operations) for a compiler (plan).
// They read Values and Frames; where a value lies only this package decides.
package run
