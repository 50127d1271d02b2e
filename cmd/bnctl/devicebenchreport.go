package main

import (
	"context"
	"sync"

	"github.com/bnctl/bnctl/cmd/bnctl/internal/bench"
)

// measureDevice prints how fast a device is, row by row.
func measureDevice(ctx context.Context, o *output, options bench.DeviceOptions) error {
	head := sync.OnceFunc(func() {
		o.result("%s", bench.DeviceHead())
	})
	w := o.waiting()
	defer w.Stop()
	options.Begin = w.Begin
	return bench.Device(ctx, options, func(r bench.DeviceRow) {
		w.Clear()
		head()
		o.event("device_bench", r)
		o.result("%s", r.Line())
	})
}
