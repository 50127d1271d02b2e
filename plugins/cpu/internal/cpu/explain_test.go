package cpu

import (
	"context"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/parallel/spmd"
	"github.com/bnctl/bnctl/plugins/cpu/internal/machine"
	"github.com/bnctl/bnctl/plugins/cpu/internal/schedule"
)

var update = flag.Bool("update", false, "write testdata/plans from what the planner decides")

// processor describes a processor. It may be a different one than this machine has.
type processor struct {
	description machine.Description
	rates       machine.Rates
}

// machines are processors, as their makers and systems describe them, with rates of a core
// that were measured (Cascade Lake, Sapphire Rapids, Zen 3 and 5) or are assumed.
var machines = map[string]processor{
	"cascade-lake":    described("Intel Xeon (Cascade Lake)", 32<<10, 1<<20, 36<<20, 24, 147, 14, 8),
	"ice-lake":        described("Intel Xeon (Ice Lake)", 48<<10, 1280<<10, 54<<20, 36, 160, 16, 10),
	"sapphire-rapids": described("Intel Xeon (Sapphire Rapids)", 48<<10, 2<<20, 105<<20, 56, 158, 28, 14),
	"zen3":            described("AMD EPYC (Zen 3)", 32<<10, 512<<10, 32<<20, 8, 102, 17, 13),
	"zen4":            described("AMD EPYC (Zen 4)", 32<<10, 1<<20, 32<<20, 8, 118, 30, 25),
	"zen5":            described("AMD EPYC (Zen 5)", 48<<10, 1<<20, 32<<20, 8, 250, 40, 30),
	"neoverse-n1":     described("Arm Neoverse N1", 64<<10, 1<<20, 32<<20, 64, 40, 15, 12),
	"laptop":          described("a laptop", 32<<10, 256<<10, 4<<20, 2, 90, 25, 12),
	"slow-l3":         described("a laptop whose L3 is slow", 32<<10, 256<<10, 8<<20, 2, 140, 9, 5),
}

// described returns a processor. l3 is the cache that all cores share. The rates are in 1e9 operations or
// bytes per second.
func described(name string, l1, l2, l3, cores int, flops, readL3, read float64) processor {
	return processor{machine.Description{Processor: name, Cores: cores, Present: cores,
		L1: machine.Cache{Bytes: l1, Shared: 1}, L2: machine.Cache{Bytes: l2, Shared: 1},
		L3: machine.Cache{Bytes: l3, Shared: cores}},
		machine.Rates{Flops: 1e9 * flops, L3: 1e9 * readL3, Memory: 1e9 * read}}
}

// schedule returns the schedule for the processor.
func (p processor) schedule() schedule.Schedule { return schedule.For(p.description, p.rates) }

// TestPlans plans for other machines. To update the plans: go test ./plugins/cpu/internal/cpu -run
// TestPlans -update
func TestPlans(t *testing.T) {
	for name, m := range machines {
		lines := m.schedule().Lines()
		for _, model := range []string{"resnet50", "mobilenetv2"} {
			lines = append(append(lines, "", model), planOf(t, model, m.schedule())...)
		}
		got, path := strings.Join(lines, "\n")+"\n", filepath.Join("testdata", "plans", name+".txt")
		if *update {
			if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil || got != string(want) {
			t.Errorf("%s (%v): the plan is\n%s", path, err, got)
		}
	}
}

// planOf returns the text that explains how schedule s divides the prediction with a model.
func planOf(t *testing.T, model string, s schedule.Schedule) []string {
	m, err := models.Build(model, models.Options{})
	if err != nil {
		t.Fatal(err)
	}
	p, err := spmd.PredictProgram(m.Graph)
	if err != nil {
		t.Fatal(err)
	}
	d := openSet(t, "fma", 1)
	backendOf(d).machine.Schedule = s
	x, err := d.Load(context.Background(), p, device.Capacity{Rows: 1, Replicas: 1})
	if err != nil {
		t.Fatal(err)
	}
	return runnerOf(x).explain()
}

// TestScheduleSameBits checks that results do not depend on a schedule. It tries the schedules of other
// machines, of one with nearly no cache, and of one with a cache larger than memory.
func TestScheduleSameBits(t *testing.T) {
	tiny := schedule.Schedule{Weights: 1, Rows: 1, Span: 1, Step: 1, Far: 1, Tiling: 1 << 30,
		LightTiles: 1, HeavyTiles: 1, Tiles: 1, FewTiles: 1, SmallSums: 1, SomeTiles: 1, ManyTiles: 1,
		Gradient: 1, Pairs: 1, Piece: 1, SmallPiece: 1, Range: 1}
	const all = 1 << 40
	huge := schedule.Schedule{Weights: all, Rows: all, Span: all, Step: all, Far: all, Tiling: all,
		LightTiles: 1 << 10, HeavyTiles: 1 << 10, Tiles: 4 << 20, FewTiles: all, SmallSums: all,
		SomeTiles: 64 << 20, ManyTiles: 64 << 20, Gradient: all, Pairs: 64 << 10,
		Piece: all, SmallPiece: all, Range: all}
	schedules := map[string]schedule.Schedule{"tiny": tiny, "huge": huge,
		"laptop": machines["laptop"].schedule(), "zen5": machines["zen5"].schedule(),
		"slow-l3": machines["slow-l3"].schedule()}
	input := models.Size{Height: 32, Width: 32, Channels: 3}
	for _, name := range []string{"resnet20", "mobilenetv2"} {
		want := ""
		for by, s := range schedules {
			d := openSet(t, "fma", 2)
			backendOf(d).machine.Schedule = s
			got := trainDigest(t, d, name, input)
			if want == "" {
				want = got
			}
			if got != want {
				t.Errorf("%s, by the schedule %s: other bits", name, by)
			}
		}
	}
}
