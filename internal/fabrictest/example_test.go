package fabrictest_test

import (
	"context"
	"fmt"

	"github.com/bnctl/bnctl/device/fabric"
	"github.com/bnctl/bnctl/internal/fabrictest"
	"github.com/bnctl/bnctl/internal/inprocess"
)

// Check your fabric with every case. In a test, each case is a t.Run.
func ExampleCases() {
	open := func(_ context.Context, size int) ([]fabric.Fabric, error) { return inprocess.New(size), nil }
	for _, c := range fabrictest.Cases()[:1] {
		fmt.Println(c.Name, c.Run(context.Background(), open))
	}
	// Output: ranks <nil>
}
