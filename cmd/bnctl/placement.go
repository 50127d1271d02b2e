package main

import (
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/bnctl/bnctl/parallel"
)

// bySpeed is the placement that follows the devices' speeds.
const bySpeed = "speed"

// placementOf reads --placement: how many of the replicas each device gets;
// nil without, or if it follows their speeds.
func placementOf(c *cli.Context, devices []parallel.Member, replicas int) ([]int, error) {
	text := c.String("placement")
	if text == "" || text == bySpeed {
		return nil, nil
	}
	var counts []int
	for _, item := range strings.Split(text, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(item))
		if err != nil {
			return nil, misuse("--placement %q: %q is no number of replicas; want one for each device, or %s", text,
				item, bySpeed)
		}
		counts = append(counts, n)
	}
	if len(counts) != len(devices) {
		return nil, misuse("--placement %q is for %s, and there are %d; give one number for each",
			text, counted(len(counts), "device"), len(devices))
	}
	if _, err := parallel.PlaceCounts(replicas, counts); err != nil {
		return nil, misuse("--placement %q: %v", text, err)
	}
	return counts, nil
}

// placedOn says which device has how many replicas.
func placedOn(devices []string, replicas []int) string {
	var parts []string
	for i, name := range devices {
		parts = append(parts, name+" ("+strconv.Itoa(replicas[i])+")")
	}
	return strings.Join(parts, ", ")
}
