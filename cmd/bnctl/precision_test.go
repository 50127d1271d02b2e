package main

import (
	"context"
	"errors"
	"flag"
	"testing"

	"github.com/urfave/cli/v2"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/device/ref"
)

// oldProvider has a device that knows of no precision but f32, and counts how
// often it is opened.
type oldProvider struct {
	refProvider
	opened *int
}

func (oldProvider) List(context.Context) ([]device.Info, string, error) {
	return []device.Info{ref.New("old").Info()}, "", nil
}

func (p oldProvider) OpenAs(context.Context, string, string, device.Options) (device.Device, error) {
	*p.opened++
	return ref.New("old"), nil
}

// A device that lacks a precision is refused before any is opened.
func TestPrecisionThatADeviceLacks(t *testing.T) {
	c := cli.NewContext(cli.NewApp(), flag.NewFlagSet("", flag.PanicOnError), nil)
	for _, precision := range device.Precisions() {
		opened := 0
		set := &deviceSet{targets: map[string]target{}, options: device.Options{Precision: precision},
			providers: map[string]provider{"ref": oldProvider{opened: &opened}, "old": oldProvider{opened: &opened}}}
		err := set.open(t.Context(), c, []deviceSpec{{count: 1, name: "ref"}, {count: 1, name: "old"}}, noLimit)
		switch {
		case precision == device.F32 && (err != nil || opened != 2):
			t.Errorf("%s: %d devices opened, %v", precision, opened, err)
		case precision != device.F32 && (!errors.Is(err, device.Unsupported) || opened != 0):
			t.Errorf("%s: %d devices opened, %v", precision, opened, err)
		}
	}
}
