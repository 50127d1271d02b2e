package bnctl

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/bnctl/bnctl/parallel"
	"github.com/bnctl/bnctl/problem"
)

// bySpeed is the placement that follows the devices' speeds.
const bySpeed = "speed"

// placement reads the number of replicas for each device, like "4,2,2". It returns nil for "" and for
// bySpeed.
func placement(text string, devices, replicas int) ([]int, error) {
	if text == "" || text == bySpeed {
		return nil, nil
	}
	quoted := strconv.Quote(text)
	var counts []int
	for _, item := range strings.Split(text, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(item))
		if err != nil {
			return nil, problem.New("placement", quoted, strconv.Quote(item)+" is no number of replicas",
				"want one for each device, or "+bySpeed)
		}
		counts = append(counts, n)
	}
	if len(counts) != devices {
		return nil, problem.New("", "", fmt.Sprintf("{placement} %s is for %s, and there are %d", quoted,
			problem.Plural(len(counts), "device"), devices), "give one number for each")
	}
	if _, err := parallel.PlaceCounts(replicas, counts); err != nil {
		return nil, problem.New("placement", quoted, err.Error(), "")
	}
	return counts, nil
}
