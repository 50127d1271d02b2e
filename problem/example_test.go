package problem_test

import (
	"errors"
	"fmt"

	"github.com/bnctl/bnctl/problem"
)

// One error, as a Go program reads it and as a command line shows it.
func ExampleError_WithOptionNames() {
	var err error = problem.New("batch", "4", "8 replicas need 8 rows at least", "use {replicas} 4")
	fmt.Println(err)
	if p := new(problem.Error); errors.As(err, &p) {
		fmt.Println(p.WithOptionNames(func(option string) string { return "--" + option }))
	}
	fmt.Println(problem.IsMisuse(err))
	// Output:
	// batch 4: 8 replicas need 8 rows at least; use replicas 4
	// --batch 4: 8 replicas need 8 rows at least; use --replicas 4
	// true
}
