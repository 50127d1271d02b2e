package fabric_test

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/bnctl/bnctl/device/fabric"
	"github.com/bnctl/bnctl/internal/inprocess"
)

// Three ranks exchange the number of images per second that each trains.
func Example() {
	var wait sync.WaitGroup
	for _, r := range inprocess.New(3) {
		wait.Go(func() {
			p := fabric.New(r, 10*time.Second)
			defer p.Close()
			speed := fmt.Sprint(100 * (1 + p.Rank()))
			all, err := p.AllGather(context.Background(), []byte(speed))
			if err == nil && p.Rank() == 0 {
				fmt.Printf("%s\n", all)
			}
		})
	}
	wait.Wait()
	// Output: [100 200 300]
}
