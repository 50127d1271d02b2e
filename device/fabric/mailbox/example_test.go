package mailbox_test

import (
	"fmt"

	"github.com/bnctl/bnctl/device/fabric/mailbox"
)

// One goroutine puts messages; the other one receives them, and waits while there are no
// messages.
func ExampleBox() {
	box := mailbox.New[[]byte]()
	go func() {
		for _, m := range []string{"first", "second"} {
			box.Put([]byte(m))
		}
	}()
	for n := 0; n < 2; {
		m, ok := box.Take()
		if !ok {
			<-box.Arrived()
			continue
		}
		fmt.Printf("%s\n", m)
		n++
	}
	// Output:
	// first
	// second
}
