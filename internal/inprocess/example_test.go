package inprocess_test

import (
	"context"
	"fmt"
	"time"

	"github.com/bnctl/bnctl/device/fabric"
	"github.com/bnctl/bnctl/internal/inprocess"
)

// Two ranks of one process. Each runs in a separate goroutine.
func ExampleNew() {
	ranks := inprocess.New(2)
	done := make(chan struct{})
	go func() {
		defer close(done)
		p := fabric.New(ranks[1], 10*time.Second)
		defer p.Close()
		p.AllGather(context.Background(), []byte("ready"))
	}()
	p := fabric.New(ranks[0], 10*time.Second)
	all, err := p.AllGather(context.Background(), []byte("here"))
	fmt.Printf("%s %v\n", all, err)
	<-done
	p.Close()
	// Output: [here ready] <nil>
}
