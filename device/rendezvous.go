package device

// Rendezvous makes the places where groups meet at levels at which the host is
// not in the middle.
type Rendezvous interface {
	// Meet makes the meeting of a new group of that number of members at a level that
	// all of them have. The error wraps Unavailable if there is none to be had
	// on this machine: the group meets at Stream then.
	Meet(level string, generation uint64, members int) (Meeting, error)
}

// Meeting is what the host keeps of the place where one group meets. The host
// only watches: it declares lost who does not come, and aborts.
type Meeting interface {
	// Rendezvous is what the members need to find it: Group.Rendezvous.
	Rendezvous() []byte
	// Joined is called when all members have joined.
	Joined()
	// Missing returns the ranks for which others wait; nil if nobody waits.
	Missing() []int
	// Exchanges is a number that grows as long as the group gets on.
	Exchanges() int
	// Abort ends the group: members that wait, and those that come later, get
	// an error that wraps Aborted.
	Abort(cause error)
	// Close gives the place up.
	Close() error
}
