package schedule

import (
	"math"
	"testing"

	"github.com/bnctl/bnctl/plugins/cpu/internal/machine"
)

// TestRatesDecide checks that the memory near a core and the rows for each read of heavy weights depend on
// the rates.
func TestRatesDecide(t *testing.T) {
	small := machine.Description{L2: machine.Cache{Bytes: 256 << 10, Shared: 1},
		L3: machine.Cache{Bytes: 8 << 20, Shared: 2}}
	large := machine.Description{L2: machine.Cache{Bytes: 2 << 20, Shared: 1}}
	for _, c := range []struct {
		name             string
		on               machine.Description
		flops, l3, reads float64 // 1e9 per second
		tiling, rows     int
	}{
		{"L3 is quick", small, 100, 13, 20, 1 << 20, 8},
		{"L3 is slow", small, 100, 12, 20, 256 << 10, 8},
		{"memory is slow", small, 100, 13, 5, 1 << 20, 13},
		{"memory stands still", small, 100, 13, 0.001, 1 << 20, 32},
		{"no L3", large, 100, 0, 20, 1 << 20, 8},
		{"nothing is known", machine.Description{}, 0, 0, 0, 128 << 10, 8},
	} {
		got := For(c.on, machine.Rates{Flops: 1e9 * c.flops, L3: 1e9 * c.l3, Memory: 1e9 * c.reads})
		if got.Tiling != c.tiling || got.Rows != c.rows {
			t.Errorf("%s: tilings of %d, %d rows; want %d, %d", c.name, got.Tiling, got.Rows, c.tiling, c.rows)
		}
	}
}

// TestSeconds checks that each kind of work adds its amount divided by its rate.
func TestSeconds(t *testing.T) {
	r := machine.Rates{Flops: 100, L3: 10, Memory: 5}
	for _, c := range []struct {
		work Work
		want float64
	}{
		{Work{}, 0}, {Work{L3: 20}, 2}, {Work{Memory: 20}, 4}, {Work{Products: 98}, 1}, {Work{Tiles: 80}, 1},
		{Work{Transforms: 30}, 1}, {Work{Depthwise: 58}, 1}, {Work{Passes: 12}, 1},
		{Work{Products: 98, Passes: 12, Memory: 5}, 3},
	} {
		if got := c.work.Seconds(r); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%+v: %g seconds, want %g", c.work, got, c.want)
		}
	}
}
