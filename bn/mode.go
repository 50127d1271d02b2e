package bn

import (
	"fmt"
	"slices"
)

// Mode selects the moments that training normalises with.
type Mode string

// These are the modes.
const (
	Sync    Mode = "sync"    // the moments of the global batch
	Replica Mode = "replica" // the moments of each replica
	Frozen  Mode = "frozen"  // the running statistics, which do not change
)

// Modes lists the modes, the default first.
func Modes() []Mode { return []Mode{Sync, Replica, Frozen} }

// ParseMode returns the mode with that name.
func ParseMode(s string) (Mode, error) { return parse("batch norm mode", Mode(s), Modes()) }

// Rule selects how the moments of R replicas are combined in mode Replica.
type Rule string

// These are the rules.
const (
	Pooled Rule = "pooled" // exact merge, within and between replicas
	Mean   Rule = "mean"   // plain mean of the means and of the variances
	First  Rule = "first"  // replica 0 alone, as in PyTorch's DataParallel and DDP
)

// Rules lists the rules, the default first.
func Rules() []Rule { return []Rule{Pooled, Mean, First} }

// ParseRule returns the rule with that name.
func ParseRule(s string) (Rule, error) { return parse("statistics rule", Rule(s), Rules()) }

// listed writes names as a person does: "pooled, mean or first".
func listed[T ~string](names []T) string {
	s := string(names[0])
	for i, n := range names[1:] {
		if i == len(names)-2 {
			s += " or " + string(n)
			continue
		}
		s += ", " + string(n)
	}
	return s
}

func parse[T ~string](kind string, v T, values []T) (T, error) {
	if !slices.Contains(values, v) {
		return "", fmt.Errorf("unknown %s %q, want %s", kind, v, listed(values))
	}
	return v, nil
}
