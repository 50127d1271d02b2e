// Package run is the executor of the CPU device: it turns actions into results.
//
// An Action is a compiled node, of one of three kinds: AtOnce does all its work
// in one call, an Exchange communicates with other devices, and ByRows computes
// rows, or positions of rows if it has Spans. A Linker orders the actions of a
// function and gives every Value a slot. A Frame is one run of the
// Function that the Linker returns.
//
//	Function
//	  group      the work between two barriers: one action, or actions by rows
//	    chain    neighbouring actions, through which a part of a row passes at a time
//	      span   some neighbouring positions (pixels) of a row, while they are in the cache
//
//	arena.Memory
//	  state      tensors of the program, by name
//	  packed     weights in the order of the kernels' reads
//	  arena      the values of a run: slots by group, then lanes
//	    lane     the memory of one row while it passes through a group
//
// Every worker processes the next row, or the next piece of a row if there are
// few rows. The distribution depends on timing, but no bit of any result does:
// the results of a row are a function of the row, and sums over rows follow a
// tree that depends only on the number of rows.
//
// The packages above (convolution, operations) make actions for a compiler
// (plan). They read Values and Frames; only this package decides where a value
// is stored.
package run
