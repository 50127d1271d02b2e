package step_test

import (
	"fmt"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/parallel/step"
	"github.com/bnctl/bnctl/tensor"
)

// A ledger has a snapshot and the steps since then.
func Example() {
	var l step.Ledger
	l.Begin(7, map[string]tensor.Tensor{"weight": tensor.New(tensor.F32, 4)})
	for range 2 {
		l.Batch = step.Batch{Rows: map[string]tensor.Tensor{"x": tensor.New(tensor.F32, 8, 4)}, Sizes: []int{4, 4}}
		l.Commit(device.Hyper{"lr": 0.1})
	}
	fmt.Printf("%d steps since version %d\n", len(l.Entries), l.Version)
	fmt.Println(l.Long())
	// Output:
	// 2 steps since version 7
	// false
}
