package graph

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/bnctl/bnctl/tensor"
)

// Limits for programs from files and other processes. Real programs stay far below them.
const (
	maxStates     = 1 << 16
	maxStateBytes = 1 << 40
	maxFunctions  = 64
	maxNodes      = 1 << 17 // nodes of a function
	maxValues     = 1 << 19 // values of a function
	maxOperands   = 1 << 12 // operands of a node, or elements of a list
	maxText       = 1 << 24 // bytes of a text form
)

var roles = []Role{Weight, Bias, Gamma, Beta, Mean, Variance, Constant, Optimizer, Average}

// initRules gives the number of arguments of every rule. The empty rule is
// for state that is always read from a file.
var initRules = map[string]int{"": 0, "zeros": 0, "ones": 0, "constant": 1, "normal": 1, "uniform": 1,
	"he_normal": 1, "he_uniform": 1, "xavier_uniform": 0, "xavier_normal": 0}

// checkStates checks a table of state and its total size in bytes.
func checkStates(table []State) error {
	if len(table) > maxStates {
		return fmt.Errorf("%d state tensors, want at most %d", len(table), maxStates)
	}
	names, bytes := make(map[string]bool, len(table)), 0
	for i := range table {
		s := &table[i]
		if err := checkState(s); err != nil {
			return fmt.Errorf("state %s: %w", s.Name, err)
		}
		if names[s.Name] {
			return fmt.Errorf("state %s is declared twice", s.Name)
		}
		names[s.Name] = true
		n, _ := tensor.Size(s.DType, s.Shape)
		if bytes += min(n, maxStateBytes); bytes >= maxStateBytes {
			return fmt.Errorf("state %s: the state up to here takes %d GiB or more", s.Name, maxStateBytes>>30)
		}
	}
	return nil
}

func checkState(s *State) error {
	if err := cmp.Or(checkName(s.Name), checkType(Type{Whole, s.DType, s.Shape})); err != nil {
		return err
	}
	if !slices.Contains(roles, s.Role) {
		return fmt.Errorf("unknown role %q; roles are %v", s.Role, roles)
	}
	n, ok := initRules[s.Init.Rule]
	if !ok {
		return fmt.Errorf("unknown rule %q to fill it with", s.Init.Rule)
	}
	if len(s.Init.Args) != n || hasNaN(s.Init.Args) {
		return fmt.Errorf("rule %q has the arguments %v, want %d numbers", s.Init.Rule, s.Init.Args, n)
	}
	return nil
}
