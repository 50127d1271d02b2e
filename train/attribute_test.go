package train

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/tensor"
)

// TestAttribute checks that an error about numbers in the data that are not finite names
// their sample. An error about something else, or with finite data, is unchanged.
func TestAttribute(t *testing.T) {
	x := tensor.New(tensor.F32, 4, 3)
	path := filepath.Join(t.TempDir(), "x.npy")
	f, err := os.Create(path)
	if err == nil {
		err = errors.Join(data.WriteNPY(f, x), f.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	src, err := data.OpenInputs(t.Context(), []string{path}, data.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	s := &Session{plan: &plan{config: Config{Train: src}}}
	order := tensor.New(tensor.I64, 2)
	copy(order.I64(), []int64{1, 3})
	for _, c := range []struct {
		bad  float64
		err  error
		want string
	}{
		{math.NaN(), fmt.Errorf("step 1: %w", device.NonFinite), "of this batch sample " + src.Name(3) + " has NaN as element 1"},
		{math.Inf(1), fmt.Errorf("step 1: %w", device.NonFinite), " has +Inf as element 1; mend it or leave it out"},
		{1, fmt.Errorf("step 1: %w", device.NonFinite), ""},
		{math.NaN(), errors.New("lost"), ""},
	} {
		b := &data.Batch{X: tensor.New(tensor.F32, 2, 3), Samples: order}
		b.X.F32()[4] = float32(c.bad)
		got := s.attribute(b, c.err)
		if c.want == "" && got != c.err || !strings.Contains(got.Error(), c.want) || !errors.Is(got, c.err) {
			t.Errorf("%v in the data, %v: %v, want %q", c.bad, c.err, got, c.want)
		}
	}
}
