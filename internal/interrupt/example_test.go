package interrupt_test

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/bnctl/bnctl/internal/interrupt"
)

// A program that may be stopped while it works, but not while it saves.
func ExampleNotify() {
	ctx, stop := interrupt.Notify(context.Background(), interrupt.Options{
		Grace:     8 * time.Second,
		OnFirst:   func(s interrupt.Signal) { fmt.Println(s.Name() + ": stopping") },
		OnSecond:  func(interrupt.Signal) { os.Exit(1) },
		OnTimeout: func(_ context.Context, err error) { fmt.Println(err); os.Exit(1) },
	})
	defer stop()
	saved := interrupt.Saving(ctx)
	fmt.Println("saving")
	saved()
	_, stopped := interrupt.Cause(ctx)
	fmt.Println(stopped)
	// Output:
	// saving
	// false
}
