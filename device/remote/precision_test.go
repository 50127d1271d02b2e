package remote_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/device/ref"
)

// careless is a provider that always opens its device at F32.
type careless struct{ ref.Provider }

func (careless) List(context.Context) ([]device.Info, string, error) {
	return []device.Info{ref.New("careless").Info()}, "", nil
}

func (careless) Open(context.Context, string, device.Options) (device.Device, error) {
	return ref.New("careless"), nil
}

func TestPrecision(t *testing.T) {
	p := start(t, "ref")
	list, _, err := p.List(t.Context())
	if err != nil || !slices.Equal(list[0].Precisions, device.Precisions()) {
		t.Errorf("listed %+v, %v", list, err)
	}
	d, err := p.Open(t.Context(), device.DefaultID, device.Options{Precision: device.BF16})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if got := d.Info().Precisions; !slices.Equal(got, device.Precisions()) {
		t.Errorf("an open device has %q", got)
	}
}

// TestPrecisionThatIsIgnored checks that Open returns an error if a device ignores the requested precision.
func TestPrecisionThatIsIgnored(t *testing.T) {
	p := start(t, "careless")
	d, err := p.Open(t.Context(), device.DefaultID, device.Options{Precision: device.BF16})
	if err == nil {
		d.Close()
	}
	if want := "has f32 only; use precision f32"; !errors.Is(err, device.Unsupported) ||
		!strings.Contains(err.Error(), want) {
		t.Errorf("opened at bf16: %v", err)
	}
	if d, err = p.Open(t.Context(), device.DefaultID, device.Options{}); err != nil {
		t.Fatal(err)
	}
	d.Close()
}
