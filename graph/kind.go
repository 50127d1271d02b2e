package graph

import "fmt"

// Kind is the relation of a value to the logical replicas of a step.
type Kind uint8

// These are the kinds. Their numbers are part of the protocol: they never change.
const (
	// Whole is the same on all devices: state, hyper-parameters, results of an
	// all-reduce. It has no extra axis.
	Whole Kind = 1
	// Replica has one element per replica held by the device, along a
	// leading axis: moments, losses and weight gradients before reduction.
	Replica Kind = 2
	// Rows has one element per real row of the replicas held by the device,
	// along a leading axis, concatenated in replica order.
	Rows Kind = 3
)

var kindNames = [...]string{Whole: "whole", Replica: "replica", Rows: "rows"}

// String returns the kind's name in the text form.
func (k Kind) String() string {
	if k < Whole || k > Rows {
		return fmt.Sprintf("kind(%d)", uint8(k))
	}
	return kindNames[k]
}

// ParseKind returns the kind with that name in the text form.
func ParseKind(s string) (Kind, error) {
	for k := Whole; k <= Rows; k++ {
		if kindNames[k] == s {
			return k, nil
		}
	}
	return 0, fmt.Errorf("unknown kind %q; kinds are whole, replica, rows", s)
}
