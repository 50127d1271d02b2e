package golden

import (
	"time"

	"github.com/urfave/cli/v2"

	"github.com/bnctl/bnctl/device/class"
	"github.com/bnctl/bnctl/problem"
)

// VerifyCommand returns the command "devices verify" with additional flags.
func VerifyCommand(action cli.ActionFunc, flags []cli.Flag) *cli.Command {
	return &cli.Command{
		Name:      "verify",
		Usage:     "whether devices have the bits of their numbered kernel classes; exit 3 if not",
		ArgsUsage: "[DEVICE...]",
		Description: `Runs the golden vectors that are part of bnctl, some 550 small calls that cover
every operation, and compares results with stored bits. After --limit seconds it
starts no further vector, and prints how many did not run; the first ones cover every
operation. Run it when a machine starts. A device of a class without a number is
listed and not verified; if its name was given, that is an error. plugin test
--vectors runs all vectors of the folder spec on a plugin.

   bnctl devices verify
   bnctl devices verify cpu cuda:0 --json
   bnctl devices verify cpu --kernels fma`,
		Flags: append([]cli.Flag{
			&cli.StringFlag{Name: "kernels", Value: "auto", Usage: "kernel class: auto, " + class.AMX + ", " +
				class.FMA + " or " + class.Generic},
			&cli.Float64Flag{Name: "limit", Value: 10, Usage: "`SECONDS` for all devices together; 0: no limit"},
			&cli.IntFlag{Name: "threads", Usage: "`N` of a CPU device", DefaultText: "the cores"},
		}, flags...),
		Action: action,
	}
}

// VectorsFlag returns the flag of "plugin test" that runs golden vectors in place of conformance cases.
func VectorsFlag() cli.Flag {
	return &cli.StringFlag{Name: "vectors",
		Usage: "run the golden vectors of the folder `DIR` (spec of a release) instead of the cases"}
}

// Limit returns the time limit that the flags of "devices verify" set; 0: no limit.
func Limit(c *cli.Context) (time.Duration, error) {
	n := c.Float64("limit")
	if !(n >= 0 && n <= 86400) {
		return 0, problem.New("limit", c.String("limit"), "want 0 to 86400 seconds", "")
	}
	return time.Duration(n * float64(time.Second)), nil
}
