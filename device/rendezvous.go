package device

// Rendezvous creates shared memory for groups. Through it the members exchange data without the host, for
// example at level CollShm.
type Rendezvous interface {
	// Meet returns the memory of a new group with that number of members, at a
	// level that all members have. The error wraps Unavailable if this machine
	// does not permit shared memory; the group then exchanges at Stream.
	Meet(level string, generation uint64, members int) (GroupMemory, error)
}

// GroupMemory is the host's side of the memory through which the members of one group
// exchange data. The host does not exchange data: it watches the members' progress, and
// aborts the group if a member is lost.
type GroupMemory interface {
	// Rendezvous returns the value of Group.Rendezvous, which lets members find the memory.
	Rendezvous() []byte
	// Joined is called when all members have joined.
	Joined()
	// Missing returns the ranks that other members are waiting for, or nil.
	Missing() []int
	// Exchanges returns a number that grows while the group makes progress.
	Exchanges() int
	// Abort ends the group. Members that wait in an exchange, or start one
	// later, get an error that wraps Aborted.
	Abort(cause error)
	// Close releases the memory.
	Close() error
}
