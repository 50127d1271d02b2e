// Package parallel trains one model on many devices, with the same bits as on one.
//
// Use it to run programs on devices directly; package train makes whole runs.
//
// Package spmd makes the programs from a model's graph. R replicas, each with a share of
// every batch (Tail), determine the result; the number of devices that hold them
// determines only the speed.
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
// # Members and computation
//
// Open returns a Driver. Step runs the training function on a batch, and Commit makes
// the next weights from its gradients; Predict, Moments, State and Write are its other
// methods. The Group runs the functions: it has the members, the replicas of each
// member (internal/placement), their exchange (communicator) and their time limits
// (timeouts). All members load one program (commonProgram).
//
//	Driver      the computation       step.go commit.go predict.go inflight.go state.go
//	Group       the devices           group.go members.go communicator.go timeouts.go watchdog.go
//	recovery    loss of a device      recovery.go recovery_*.go ledger.go
//	rankGroup   several processes     rank_*.go
//
// A recovery keeps the group running. It drops a lost member and moves its replicas to
// the others, and the driver repeats the run. The reopener opens the device again, and
// it rejoins with the state of another member, which the recovery requests from the
// driver (stepper). If all members are lost, the first one to return receives the
// snapshot of the ledger and repeats the steps since then (replay).
//
// # Weights
//
// A Driver keeps one set of weights and sums gradients along the canonical tree
// of package collective. Package weightsync has the other methods: it delays gradients,
// or gives each replica separate weights.
//
// # Stages
//
// OpenStaged returns a Staged, and OpenPipeline a Pipeline, which divide the layers into stages on several
// devices. Package pipeline runs the stages; its documentation has the states of a call, and what happens
// when devices are lost. Each stage is a Driver with its part of the program (stageDriver).
//
// # Ranks
//
// With Config.Peers a run has several processes, each with devices for a range
// of the replicas (placement.Ranks). All make the same calls in the same order. After
// every run each rank reports its outcome, and a call returns only when all ranks have
// a result (rankGroup). If the layers are divided into stages, a rank holds some stages
// with all of their devices, and package pipeline sends values that cross to another rank.
package parallel
