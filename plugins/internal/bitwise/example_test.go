package bitwise_test

import (
	"context"
	"fmt"
	"log"

	"github.com/bnctl/bnctl/plugins/internal/bitwise"
)

// ExampleCompare compares two CPU devices, which have the same bits with any kernels of a class. A test
// of a GPU uses its device in place of the second.
func ExampleCompare() {
	ctx := context.Background()
	a, err := bitwise.CPU(ctx)
	if err != nil {
		log.Fatal(err)
	}
	defer a.Close()
	b, err := bitwise.CPU(ctx)
	if err != nil {
		log.Fatal(err)
	}
	defer b.Close()
	cases, err := bitwise.Cases()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(cases[0].Name, bitwise.Compare(ctx, a, b, cases[0].Program, []int{3, 2}, bitwise.Sick))
	// Output: conv 3x3 <nil>
}
