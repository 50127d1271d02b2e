// Package version describes this build of bnctl: its release, its commit, the version of Go, the numbered
// kernel classes and parts of training, and the devices of the machine.
package version

import (
	"github.com/urfave/cli/v2"

	"github.com/bnctl/bnctl/fleet"
)

// Host has the parts of the command line that the command needs.
type Host struct {
	Flags   []cli.Flag // flags of plugins
	Plugins func(*cli.Context) fleet.Plugins
	Output  func(*cli.Context) Output
}

// Output prints results.
type Output struct {
	Result  func(format string, args ...any)
	Event   func(name string, v any)
	InFlags func(text string) string // replaces options in braces
	JSON    bool
}

// Command returns the command version.
func Command(h Host) *cli.Command {
	return &cli.Command{
		Name:  "version",
		Usage: "the release; with --verbose commit, Go, kernels, numbers and devices, for a report",
		Description: `   bnctl version
   bnctl version --verbose
   bnctl version --json`,
		Flags: append([]cli.Flag{&cli.BoolFlag{Name: "verbose",
			Usage: "commit, Go, the numbers of classes and parts, and each device with its kernels"}}, h.Flags...),
		Action: func(c *cli.Context) error { return run(c, h) },
	}
}

func run(c *cli.Context, h Host) error {
	var devices []fleet.Description
	out := h.Output(c)
	if c.Bool("verbose") || out.JSON {
		plugins := h.Plugins(c)
		names, err := plugins.Names()
		if err != nil {
			return err
		}
		for _, name := range names {
			for _, l := range plugins.List(c.Context, name) {
				devices = append(devices, l.Description())
			}
		}
	}
	out.print(c.Bool("verbose"), devices)
	return c.Context.Err()
}
