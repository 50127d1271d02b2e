// Op lists the places in the source tree that must mention an operation, and reports the places where it is
// missing.
//
//	go run ./scripts/op take     the places of one operation, which may be a new one
//	go run ./scripts/op          every operation that is missing in a place
//
// It exits with 1 if an operation is missing in a place. docs/contributing/operation.md describes the content
// of each place.
package main

import (
	"fmt"
	"os"
)

func main() {
	tree, err := readTree(".")
	if err != nil {
		fmt.Fprintln(os.Stderr, "op:", err)
		os.Exit(2)
	}
	missing := false
	if len(os.Args) > 1 {
		for _, name := range os.Args[1:] {
			missing = tree.print(operationNamed(name)) || missing
		}
	} else {
		for _, o := range operations() {
			if len(tree.missing(o)) > 0 {
				missing = tree.print(o)
			}
		}
	}
	if missing {
		os.Exit(1)
	}
}
