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
// # Who takes part, and what is computed
//
// Open returns a Driver, which steps: Step runs the training function on a
// batch, Commit makes the next weights of it, Predict, Moments, State and Write
// do what they say. Who runs that is its Group: the members, the replicas that
// each holds (placement), where they exchange (communicator) and how long they
// may take (timeouts). All members load one program (commonProgram).
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
// of package collective. StaleGradients makes gradients wait for some steps; LocalSGD gives
// each replica weights of its own.
//
// # Ranks
//
// With Config.Peers a run has several processes, each with devices for a range
// of the replicas (rankReplicas). All make the same calls in the same order; after
// every run each reports how it fared, and none returns a result before all have
// one (ranks).
package parallel
