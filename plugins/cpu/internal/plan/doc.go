// Package plan is the compiler of the CPU device: nodes to actions.
//
//	graph.Function
//	    |  fusion.Fuse, fusion.Masks     batch norms into weights, relus into epilogues
//	    v
//	nodes --- Compiler stands at one ---> Builder of its operation (convolution, operations)
//	    |                                     |  asks: operands, epilogue, temporary memory
//	    v                                     v
//	actions, one for each node <------------- run.ByRows, run.AtOnce, run.Exchange
//	    |  run.Linker: groups, chains, halves, places in memory
//	    v
//	run.Function, which a run.Frame executes
//
// The compiler knows operations by their Builders alone, except all-reduces, of
// which it makes one exchange where several follow each other. Builders see a
// Compiler and nothing behind it: they cannot change another node's action, nor
// where a value lies. A Predictor says how long what was compiled should take.
package plan
