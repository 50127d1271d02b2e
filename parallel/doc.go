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
// do what they say. Who runs that is the business of its Group: members and the
// replicas that each holds (place, Balance), where they exchange, and survival.
// A member that is lost is dropped, its replicas move to the others, the run is
// repeated, and the device is opened again and rejoins. A group asks its driver
// for one thing alone, what a device must have to take part: the state, or a
// snapshot and a replay of the steps since (stepper).
//
// # Weights
//
// A Driver keeps one set of weights and sums gradients along the canonical tree
// of package collective. Late makes gradients wait for some steps; Local gives
// each replica weights of its own.
//
// # Ranks
//
// With Config.Peers a run has several processes, each with devices for a range
// of the replicas. All make the same calls in the same order; after every run
// each reports how it fared, and none returns a result before all have one.
package parallel
