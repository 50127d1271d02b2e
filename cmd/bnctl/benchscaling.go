package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/bnctl/bnctl/parallel"
)

// scaled is what a row of bench says of how its devices work together.
type scaled struct {
	Efficiency float64 `json:"efficiency,omitempty"` // images per second and device, over those of the first row
	// Of a step's time the devices waited for each other: in the median step, and of all steps together.
	Sync     float64 `json:"sync_share"`
	SyncMean float64 `json:"sync_share_mean"`

	devices       int
	took, blocked time.Duration
	shares        []float64 // by step
}

// add counts the time of a step.
func (s *scaled) add(t parallel.Timing) {
	if t.Took <= 0 {
		return
	}
	s.took, s.blocked = s.took+t.Took, s.blocked+t.Blocked
	s.SyncMean = float64(s.blocked) / float64(s.took)
	share := float64(t.Blocked) / float64(t.Took)
	at, _ := slices.BinarySearch(s.shares, share)
	s.shares = slices.Insert(s.shares, at, share)
	s.Sync = s.shares[len(s.shares)/2]
}

// compare fills in the efficiency of a row against that of the first.
func (e *benchEvent) compare(first *benchEvent) {
	e.Efficiency = e.Throughput / float64(e.devices) / (first.Throughput / float64(first.devices))
}

// scalingHeader and columns are what --scaling adds to the table.
const scalingHeader = "  efficiency  in sync     mean"

func (e *benchEvent) columns() string {
	return fmt.Sprintf("  %8.1f %%  %5.2f %%  %5.2f %%", 100*e.Efficiency, 100*e.Sync, 100*e.SyncMean)
}

// rowsOfScaling returns the values of --devices, one for each row. All rows
// train the same recipe: its replicas are as many as there are devices at
// most, unless --replicas says how many.
func rowsOfScaling(c *cli.Context) ([]string, error) {
	if !c.IsSet("scaling") {
		return []string{c.String("devices")}, nil
	}
	if c.IsSet("devices") {
		return nil, misuse("give one of --scaling and --devices")
	}
	var rows []string
	most := 0
	for _, n := range strings.Split(c.String("scaling"), ",") {
		k, err := strconv.Atoi(n)
		if err != nil || k < 1 {
			return nil, misuse("--scaling %q: %q is no number of devices", c.String("scaling"), n)
		}
		rows, most = append(rows, n+"xcpu"), max(most, k)
	}
	if !c.IsSet("threads") {
		outputOf(c).note("the devices of a row share the cores; with --threads 1 all of them have one thread")
	}
	if c.IsSet("replicas") || c.String("mode") != "train" {
		return rows, nil
	}
	return rows, c.Set("replicas", strconv.Itoa(most))
}
