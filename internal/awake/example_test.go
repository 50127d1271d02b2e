package awake_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/bnctl/bnctl/internal/awake"
)

// A wait that ends when this process has run for long enough. While it is
// stopped no time passes.
func ExampleWithTimeout() {
	ctx, stop := awake.WithTimeout(context.Background(), time.Millisecond)
	defer stop()
	<-ctx.Done()
	fmt.Println(errors.Is(context.Cause(ctx), context.DeadlineExceeded))
	// Output: true
}
