package fleet

import (
	"fmt"
	"runtime"
	"strconv"
	"strings"

	"github.com/bnctl/bnctl/device/fabric/launcher"
	"github.com/bnctl/bnctl/problem"
)

// spec is one element of Options.Devices: "cpu", "4xcpu", "cuda:0", "NAME".
type spec struct {
	count int    // number of devices; 1 unless given
	name  string // name of the plugin
	index string // index of the device; "" means the first, or all of "cuda"
}

// parse reads Options.Devices.
func parse(text string) ([]spec, error) {
	var specs []spec
	for item := range strings.SplitSeq(text, ",") {
		s := spec{count: 1}
		rest := strings.TrimSpace(item)
		if onMachine(rest) {
			s, err := parseMachine(rest)
			if err != nil {
				return nil, err
			}
			specs = append(specs, s)
			continue
		}
		if n, after, ok := strings.Cut(rest, "x"); ok {
			if count, err := strconv.Atoi(n); err == nil {
				if count < 1 {
					return nil, problem.New("devices", strconv.Quote(item), problem.Plural(count, "device"), "")
				}
				s.count, rest = count, after
			}
		}
		s.name, s.index, _ = strings.Cut(rest, ":")
		if s.name == "" {
			return nil, problem.New("devices", strconv.Quote(text), "a name is missing",
				"write for example 2xcpu,cuda:0")
		}
		specs = append(specs, s)
	}
	return specs, nil
}

// threadsFor returns the threads of each CPU device. This is the requested number if the machine
// has enough cores, and otherwise an equal share of the cores.
func threadsFor(requested, devices int) (int, error) {
	cores := runtime.NumCPU()
	if requested == 0 {
		return max(launcher.Cores()/max(devices, 1), 1), nil
	}
	if requested < 1 || requested > cores {
		return 0, problem.New("threads", fmt.Sprint(requested),
			"this machine has "+problem.Plural(cores, "logical CPU"), fmt.Sprintf("use 1 to %d", cores))
	}
	return requested, nil
}
