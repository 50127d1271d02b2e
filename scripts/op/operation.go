package main

import (
	"math"
	"strings"

	"github.com/bnctl/bnctl/graph"
)

// operation is an operation of package graph, or one that is to be added.
type operation struct {
	name     string // name in the text form, for example max_pool
	constant string // name in Go, for example MaxPool
	op       graph.Op
}

// operations returns all operations of package graph, in the order of their numbers.
func operations() []operation {
	var all []operation
	for n := range math.MaxUint16 {
		if op := graph.Op(n); op.Valid() {
			all = append(all, operation{op.String(), constants[op.String()], op})
		}
	}
	for i, o := range all {
		if o.constant == "" {
			all[i].constant = constantOf(o.name)
		}
	}
	return all
}

// constants are the names of Go constants that constantOf cannot derive from the names of operations.
var constants = map[string]string{
	"matmul": "MatMul", "sgd": "SGD", "adamw": "AdamW", "lars": "LARS", "ema": "EMA",
}

// constantOf returns the name of the Go constant for an operation: MaxPool for max_pool.
func constantOf(name string) string {
	words := strings.Split(name, "_")
	for i, w := range words {
		if w != "" {
			words[i] = strings.ToUpper(w[:1]) + w[1:]
		}
	}
	return strings.Join(words, "")
}

// operationNamed returns the operation with this name, in the text form or in Go. If package graph does not
// have the operation, the result has op 0, which is not valid.
func operationNamed(name string) operation {
	for _, o := range operations() {
		if name == o.name || name == o.constant {
			return o
		}
	}
	return operation{name: name, constant: constantOf(name)}
}
