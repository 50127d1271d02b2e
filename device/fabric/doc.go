// Package fabric is the contract between bnctl and whatever joins the processes
// of one run: a network, and a launcher that has started a process on every
// machine.
//
// Use it to run one training in several processes: New makes the Peers that
// train.Config takes.
//
// A Fabric carries messages between ranks, nothing else: it never adds. Peers
// brings the ranks of a run together over it: they exchange records, and an
// Uplink completes along the canonical tree (package collective) what the
// devices of each rank have summed, so that the result has the same bits for
// any number of ranks.
//
// # Messages
//
// Messages from one rank to another in one lane arrive in the order in which
// they were sent, each once and whole, of any length, zero included. What is
// sent in one lane never waits for what is sent in another.
//
// # The end
//
// A rank that fails ends all ranks (Abort). No rank may go on alone, and none
// may hang: every wait ends with its context.
//
// A rule of this package without a check in device/fabric/fabrictest does not exist.
package fabric
