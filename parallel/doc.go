// Package parallel trains one model on many devices, with the bits of one.
//
// Use it to run programs on devices by hand; package train makes whole runs of
// it.
//
// Wrap adds the replica connections to a model's graph, TrainFunction and
// EstimateFunction make of that what devices run. R replicas, each with its
// share of every batch (Tail), decide what is computed; how many devices hold
// them decides only how fast.
//
//	batch     | rows of r0 | rows of r1 | rows of r2 | rows of r3 |
//	replicas        r0           r1           r2           r3        forward, backward
//	devices   [------ cuda:0 ------]   [----- cpu -----][--cpu:1--]
//	                 \    /                    |             |
//	sums              0..1                      2             3       on the device
//	                      \___________________/_____________/
//	                                0..3                              canonical tree
//
// The tree over the replicas (package collective) is the same for any placement, and
// so is every sum.
//
// # Members, and what is computed
//
// Open returns a Driver, which steps: Step runs the training function on a
// batch, Commit makes the next weights of it, Predict, Moments, State and Write
// do what they say. What runs that is its Group: the members, the replicas that
// each holds (internal/placement), where they exchange (communicator) and how long
// they may take (timeouts). All members load one program (commonProgram).
//
//	Driver      what is computed      step.go commit.go predict.go state.go
//	Group       which devices run it  group.go members.go communicator.go timeouts.go watchdog.go
//	recovery    when one is lost      recovery.go recovery_*.go ledger.go
//	rankGroup   several processes     rank_*.go
//
// A recovery keeps the group going. It drops a member that is lost; its replicas
// move to the others, the driver repeats the run, and the device is opened again
// (reopener) and rejoins with the state of another member, which the recovery asks
// the driver for (stepper). If all members were lost, the first to come back gets
// the snapshot of the ledger and repeats the steps since then (replay).
//
// # Weights
//
// A Driver keeps one set of weights and sums gradients along the canonical tree
// of package collective. StaleGradients makes gradients wait for some steps; LocalSGD
// gives each replica weights of its own.
//
// # Ranks
//
// With Config.Peers a run has several processes, each with devices for a range
// of the replicas (placement.Ranks). All make the same calls in the same order; after
// every run each reports how it fared, and none returns a result before all have
// one (rankGroup). Where layers lie on several devices a rank has some stages with all
// their columns, and what crosses is sent (stageRanks, post).
package parallel
