package main

import (
	"runtime"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"
)

// deviceSpec is one element of --devices: "cpu", "4xcpu", "cuda:0", "NAME".
type deviceSpec struct {
	count int    // how many of them; 1 unless written
	name  string // of the plugin
	index string // of the device; "" means the first, or all of "cuda"
}

func deviceFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "devices", Value: "cpu",
			Usage: "comma-separated: cpu, 4xcpu, cuda:0, cuda, ref, auto, a plugin's name, 2xNAME"},
		&cli.IntFlag{Name: "threads", Usage: "`N` per CPU device", DefaultText: "the cores, shared evenly"},
		&cli.StringSliceFlag{Name: "device-plugin", Usage: "`PATH` of a device plugin"},
		&cli.BoolFlag{Name: "allow-unlocked", Usage: "run plugins that are not in devices.lock"},
		levelFlag(),
	}
}

// levelFlag bounds the data plane, for tests and measurements.
func levelFlag() cli.Flag {
	return &cli.StringSliceFlag{Name: "level", Hidden: true,
		Usage: "data plane that may be used: stream/1, shm/1, coll.shm/1"}
}

// parseDevices reads --devices.
func parseDevices(text string) ([]deviceSpec, error) {
	var specs []deviceSpec
	for _, item := range strings.Split(text, ",") {
		s := deviceSpec{count: 1}
		rest := strings.TrimSpace(item)
		if n, after, ok := strings.Cut(rest, "x"); ok {
			if count, err := strconv.Atoi(n); err == nil {
				if count < 1 {
					return nil, misuse("--devices %q: %d devices", item, count)
				}
				s.count, rest = count, after
			}
		}
		s.name, s.index, _ = strings.Cut(rest, ":")
		if s.name == "" {
			return nil, misuse("--devices %q: a name is missing; write for example 2xcpu,cuda:0", text)
		}
		specs = append(specs, s)
	}
	return specs, nil
}

// threadsFor shares the cores among the CPU devices, or takes what --threads
// says, as long as the machine has as many.
func threadsFor(c *cli.Context, devices int) (int, error) {
	cores := runtime.NumCPU()
	if !c.IsSet("threads") {
		return max(cores/max(devices, 1), 1), nil
	}
	n := c.Int("threads")
	if n < 1 || n > cores {
		return 0, misuse("--threads %d: this machine has %d logical CPUs; use 1 to %d", n, cores, cores)
	}
	return n, nil
}
