package fleet

import (
	"context"
	"errors"
	"os"
	"slices"
	"testing"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/device/ref"
	"github.com/bnctl/bnctl/problem"
)

func TestMain(m *testing.M) {
	if Serve(os.Args) {
		return
	}
	os.Exit(m.Run())
}

// oldProvider has a device that supports only f32, and counts how often it is opened.
type oldProvider struct {
	inProcess
	opened *int
}

func (oldProvider) List(context.Context) ([]device.Info, string, error) {
	return []device.Info{ref.New("old").Info()}, "", nil
}

func (p oldProvider) OpenAs(context.Context, string, string, device.Options) (device.Device, error) {
	*p.opened++
	return ref.New("old"), nil
}

// TestPrecisionThatADeviceLacks checks that a precision that a device does not have is an error, before any
// device is opened.
func TestPrecisionThatADeviceLacks(t *testing.T) {
	for _, precision := range device.Precisions() {
		opened := 0
		f := &Fleet{targets: map[string]target{}, device: device.Options{Precision: precision},
			providers: map[string]Provider{"ref": oldProvider{opened: &opened}, "old": oldProvider{opened: &opened}}}
		err := f.open(t.Context(), []spec{{count: 1, name: "ref"}, {count: 1, name: "old"}})
		switch {
		case precision == device.F32 && (err != nil || opened != 2):
			t.Errorf("%s: %d devices opened, %v", precision, opened, err)
		case precision != device.F32 && (!errors.Is(err, device.Unsupported) || opened != 0):
			t.Errorf("%s: %d devices opened, %v", precision, opened, err)
		}
	}
}

// TestProblems checks that invalid options give a *problem.Error that names the option.
func TestProblems(t *testing.T) {
	for _, c := range []struct {
		options Options
		field   string
	}{
		{Options{Devices: "0xref"}, "devices"},
		{Options{Devices: "ref,,ref"}, "devices"},
		{Options{Devices: "2xauto"}, "devices"},
		{Options{Devices: "ref:7"}, "devices"},
		{Options{Devices: "3xref", Most: 2}, "devices"},
		{Options{Devices: "ref", Threads: -1}, "threads"},
		{Options{Devices: "ref", Threads: 1 << 20}, "threads"},
		{Options{Devices: "ref", Precision: "f8"}, "precision"},
	} {
		f, err := Open(t.Context(), c.options)
		var p *problem.Error
		if !errors.As(err, &p) || p.Field != c.field {
			t.Errorf("%+v: %v, want a problem with %s", c.options, err, c.field)
		}
		if err == nil {
			f.Close()
		}
	}
	var u *problem.Unknown
	if _, err := Open(t.Context(), Options{Devices: "cpux"}); !errors.As(err, &u) || u.Name != "cpux" {
		t.Errorf("cpux: %v, want an unknown device", err)
	}
}

// TestNamesAndProcesses checks that devices of one kind are numbered, that CPU devices are processes
// of this program, and that Close ends the processes.
func TestNamesAndProcesses(t *testing.T) {
	f, err := Open(t.Context(), Options{Devices: "2xcpu,ref", Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, m := range f.Members {
		names = append(names, m.Name)
	}
	if want := []string{"cpu:0", "cpu:1", "ref"}; !slices.Equal(names, want) {
		t.Errorf("members %v, want %v", names, want)
	}
	if f.Threads() != 1 || f.Precision() != device.F32 {
		t.Errorf("%d threads, precision %s", f.Threads(), f.Precision())
	}
	again, err := f.Reopen(t.Context(), "cpu:1")
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(again.Close(), f.Close(), f.Close()); err != nil {
		t.Error(err)
	}
}

// TestOpenStopped checks that the error of Open is the cause of the context if the context has ended.
func TestOpenStopped(t *testing.T) {
	ctx, stop := context.WithCancelCause(t.Context())
	enough := errors.New("enough")
	stop(enough)
	if _, err := Open(ctx, Options{Devices: "cpu", Threads: 1}); !errors.Is(err, enough) {
		t.Errorf("%v, want the cause", err)
	}
}
