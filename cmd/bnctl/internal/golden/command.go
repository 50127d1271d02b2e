package golden

import (
	"github.com/urfave/cli/v2"

	"github.com/bnctl/bnctl/device/class"
)

// VerifyCommand returns the command devices verify with more flags.
func VerifyCommand(action cli.ActionFunc, more []cli.Flag) *cli.Command {
	return &cli.Command{
		Name:      "verify",
		Usage:     "whether devices have the bits of their numbered kernel classes; exit 3 if not",
		ArgsUsage: "[DEVICE...]",
		Description: `Runs the golden vectors that are part of bnctl, some 550 small calls that cover
every operation, and compares results with stored bits. It takes seconds: run it
when a machine starts. A device of a class without a number is listed and not
verified; if its name was given, that is an error. plugin test --vectors runs
all vectors of the folder spec on a plugin.

   bnctl devices verify
   bnctl devices verify cpu cuda:0 --json
   bnctl devices verify cpu --kernels fma`,
		Flags: append([]cli.Flag{
			&cli.StringFlag{Name: "kernels", Value: "auto", Usage: "kernel class: auto, " + class.AMX + ", " +
				class.FMA + " or " + class.Generic},
			&cli.IntFlag{Name: "threads", Usage: "`N` of a CPU device", DefaultText: "the cores"},
		}, more...),
		Action: action,
	}
}

// VectorsFlag returns the flag of plugin test that runs vectors instead of cases.
func VectorsFlag() cli.Flag {
	return &cli.StringFlag{Name: "vectors",
		Usage: "run the golden vectors of the folder `DIR` (spec of a release) instead of the cases"}
}
