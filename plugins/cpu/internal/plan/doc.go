// Package plan is the compiler of the CPU device: nodes to actions.
//
//	graph.Function
//	    |  fusion.Fuse, fusion.Masks     batch norms into weights, relus into epilogues
//	    v
//	nodes --- Compiler, at the current -> Builder of its operation (convolution, operations)
//	    |     node                            |  reads operands, epilogue, temporary memory
//	    v                                     v
//	actions, one for each node <------------- run.ByRows, run.AtOnce, run.Exchange
//	    |  run.Linker: groups, chains, halves, places in memory
//	    v
//	run.Function, which a run.Frame executes
//
// The compiler accesses operations only through their Builders, except
// all-reduces: it combines consecutive ones into one exchange. Builders see only
// the Compiler: they can change neither another node's action nor the place of a
// value. A Predictor estimates the run time of a compiled function.
package plan
