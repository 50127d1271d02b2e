// Package machines has the commands of bnctl for devices on other machines: devices serve and devices
// keys.
package machines

import (
	"slices"

	"github.com/urfave/cli/v2"

	"github.com/bnctl/bnctl/device/machine"
	"github.com/bnctl/bnctl/fleet"
	"github.com/bnctl/bnctl/problem"
)

// Output is the destination of the commands' output. Result prints a line for people, Event an object
// for programs, and Note a message about progress.
type Output struct {
	Result func(format string, args ...any)
	Event  func(name string, v any)
	Note   func(format string, args ...any)
}

// ServeCommand returns the command "devices serve". options returns the devices that its flags name.
func ServeCommand(flags []cli.Flag, options func(*cli.Context) (fleet.Options, Output, error)) *cli.Command {
	return &cli.Command{
		Name:  "serve",
		Usage: "offer the devices of this machine to hosts on other machines",
		Description: `A host names them as tls://ADDRESS/cpu or, for all of them, tls://ADDRESS/*. This
machine needs neither data nor models: rows and states are sent to it. A device is
used by one host at a time. After a signal it ends the calls that are in progress,
and then the host continues on its other devices.

Both sides need a certificate of one authority: see bnctl devices keys.

   bnctl devices keys keys
   bnctl devices serve --listen :7443 --devices 2xcpu --tls keys/device
   bnctl train ... --devices cpu,tls://10.0.0.7:7443/* --devices-tls keys/host`,
		Flags: slices.Concat([]cli.Flag{
			&cli.StringFlag{Name: "listen", Value: ":7443", Usage: "`ADDRESS` for hosts"},
			&cli.StringFlag{Name: "tls", Usage: "`DIR` with ca.crt, tls.crt and tls.key, of the role device"},
		}, flags),
		Action: func(c *cli.Context) error {
			if c.NArg() > 0 {
				return problem.New("", c.Args().First(), "devices serve has no arguments",
					"see bnctl devices serve --help")
			}
			o, out, err := options(c)
			if err != nil {
				return err
			}
			return offer(c.Context, c.String("listen"), c.String("tls"), o, out)
		},
	}
}

// KeysCommand returns the command "devices keys".
func KeysCommand(output func(*cli.Context) Output) *cli.Command {
	return &cli.Command{
		Name:      "keys",
		Usage:     "make certificates for hosts and for machines that offer devices",
		ArgsUsage: "DIR",
		Description: `Writes three folders: DIR/host for hosts, DIR/device for the machines that offer
devices, and DIR/authority with the key that signs both. Copy DIR/host and DIR/device
to where they are needed; DIR/authority stays here. All machines may share one
certificate. With an authority in DIR the other folders get new certificates, and
copies of the earlier ones stay valid until they expire. A running program reads
replaced files without a restart. To refuse a certificate earlier, write its serial
number into a file called revoked in the folder of the other side.

   bnctl devices keys keys
   bnctl devices keys keys --days 30`,
		Flags: []cli.Flag{&cli.IntFlag{Name: "days", Value: 90, Usage: "the certificates are valid for `N` days"}},
		Action: func(c *cli.Context) error {
			if c.NArg() != 1 {
				return problem.New("", "", "devices keys needs DIR", "for example bnctl devices keys keys")
			}
			made, err := machine.MakeKeys(c.Args().First(), c.Int("days"))
			if err != nil {
				return err
			}
			out := output(c)
			for _, path := range made {
				out.Result("%s", path)
			}
			out.Event("keys", struct {
				Folders []string `json:"folders"`
				Days    int      `json:"days"`
			}{made, c.Int("days")})
			return nil
		},
	}
}
