// Package fabric is the contract between bnctl and the system that joins the
// processes of one run: a network, and a launcher that has started a process on
// every machine.
//
// Use it to run one training in several processes: New makes the Peers that
// train.Config accepts.
//
// The processes are called ranks. A Fabric only carries messages between ranks; it
// does not add values. Peers uses a Fabric to connect the ranks of a run. The ranks
// exchange records, and an Uplink completes the sums of each rank's devices along
// the canonical tree (package collective), so that the result has the same bits for
// any number of ranks.
//
// # Messages
//
// Messages from one rank to another in one lane arrive in the order in which
// they were sent, each once and whole. They may have any length, including zero. A
// message in one lane never waits for messages in another lane.
//
// # The end
//
// A rank that fails ends all ranks (Abort). No rank may continue alone, and no
// rank may hang: every wait ends with its context.
//
// Package internal/fabrictest has a check for every rule of this package.
package fabric
