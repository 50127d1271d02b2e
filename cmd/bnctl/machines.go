package main

import (
	"github.com/urfave/cli/v2"

	"github.com/bnctl/bnctl/cmd/bnctl/internal/machines"
	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/fleet"
)

func joinFlags() []cli.Flag { return machines.JoinFlags() }

func namesMachines(c *cli.Context) bool { return machines.Named(c) }

func devicesKeysCommand() *cli.Command { return machines.KeysCommand(machinesOutput) }

func devicesServeCommand() *cli.Command {
	return machines.ServeCommand(deviceFlags(), func(c *cli.Context) (fleet.Options, machines.Output, error) {
		f, err := fleetOptions(c, device.F32, noLimit)
		return f, machinesOutput(c), err
	})
}

func machinesOutput(c *cli.Context) machines.Output {
	return machines.Output{Result: outputOf(c).result, Event: outputOf(c).event, Note: outputOf(c).note}
}
