package main

import (
	"github.com/urfave/cli/v2"

	"github.com/bnctl/bnctl/cmd/bnctl/internal/bench"
	"github.com/bnctl/bnctl/device"
)

func devicesBenchCommand() *cli.Command {
	return &cli.Command{
		Name:      "bench",
		Usage:     "how fast a device is: single operations, a call, an exchange between two",
		ArgsUsage: "NAME",
		Description: `Measures the operations that need most of the time, by the times that the device
reports; the cost of an empty call; and the time of an exchange between two devices.
For a CPU also the limits of the machine, on registers and in memory.

   bnctl devices bench cpu
   bnctl devices bench cpu --threads 1 --case conv --json
   bnctl devices bench cpu --precision bf16
   bnctl devices bench mine --device-plugin ./bnctl-device-mine --allow-unlocked`,
		Flags: append([]cli.Flag{
			&cli.StringFlag{Name: "case", Usage: "only rows with `TEXT` in their names: conv, limit, exchange"},
			&cli.Float64Flag{Name: "seconds", Value: 0.3, Usage: "for each row"},
			&cli.IntFlag{Name: "threads", Usage: "`N` of a CPU device", DefaultText: "the cores"},
			&cli.StringFlag{Name: "kernels", Value: "auto", Usage: "kernel class: auto, amx, fma or generic"},
			&cli.StringFlag{Name: "precision", Value: device.F32, Usage: "f32 or bf16"},
			levelFlag(),
		}, pluginFlags()...),
		Action: devicesBench,
	}
}

func devicesBench(c *cli.Context) error {
	name, err := oneArgument(c, "NAME", "of a device, as devices list has them")
	if err != nil {
		return err
	}
	options := bench.DeviceOptions{Case: c.String("case"), Seconds: c.Float64("seconds")}
	if options.Fleet, err = fleetOptions(c, c.String("precision"), noLimit); err != nil {
		return err
	}
	options.Fleet.Devices = name
	return measureDevice(c.Context, outputOf(c), options)
}
