package main

import (
	"github.com/urfave/cli/v2"

	"github.com/bnctl/bnctl/cmd/bnctl/internal/golden"
	"github.com/bnctl/bnctl/device"
)

func devicesCommand() *cli.Command {
	return &cli.Command{
		Name:  "devices",
		Usage: "what can compute here; looking touches nothing",
		Description: `   bnctl devices list
   bnctl devices info cpu
   bnctl devices bench cpu
   bnctl devices verify
   bnctl devices keys keys
   bnctl devices serve --tls keys/device`,
		Subcommands: []*cli.Command{
			{Name: "list", Usage: "all devices of all plugins, and reasons for absent ones", Action: devicesList,
				Flags: pluginFlags(),
				Description: `   bnctl devices list
   bnctl devices list --device-plugin ./bnctl-device-mine --allow-unlocked --json`},
			{Name: "info", Usage: "all that is known of a device", ArgsUsage: "NAME", Action: devicesInfo,
				Flags: pluginFlags(),
				Description: `   bnctl devices info cpu
   bnctl devices info cuda:0 --json`},
			devicesBenchCommand(),
			golden.VerifyCommand(devicesVerify, pluginFlags()),
			devicesKeysCommand(),
			devicesServeCommand(),
		},
	}
}

func devicesList(c *cli.Context) error {
	if err := noArguments(c); err != nil {
		return err
	}
	plugins, o := pluginsOf(c), outputOf(c)
	names, err := plugins.Names()
	if err != nil {
		return err
	}
	headDevices(o)
	for _, name := range names {
		for _, l := range plugins.List(c.Context, name) {
			rowDevice(o, l.Description())
		}
	}
	return c.Context.Err()
}

func devicesInfo(c *cli.Context) error {
	name, err := oneArgument(c, "NAME", "of a device, as devices list has them")
	if err != nil {
		return err
	}
	l, err := pluginsOf(c).ListOne(c.Context, name)
	if err != nil {
		return err
	}
	return reportDevice(outputOf(c), l.Description())
}

func devicesVerify(c *cli.Context) error {
	options, err := fleetOptions(c, device.F32, noLimit)
	if err != nil {
		return err
	}
	limit, err := golden.Limit(c)
	if err != nil {
		return err
	}
	faults, err := golden.Verify(c.Context, options, c.Args().Slice(), limit, outputOf(c).golden())
	if faults > 0 {
		err = sickError{golden.Fault(faults, err)}
	}
	return err
}
