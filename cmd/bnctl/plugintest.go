package main

import (
	"errors"
	"fmt"

	"github.com/urfave/cli/v2"

	"github.com/bnctl/bnctl/cmd/bnctl/internal/golden"
	"github.com/bnctl/bnctl/device/conformance"
)

func pluginTestCommand() *cli.Command {
	return &cli.Command{
		Name:      "test",
		Usage:     "judge whether a plugin keeps the contract; exit 3 if it does not",
		ArgsUsage: "PATH",
		Description: `Starts the plugin and runs every case of the conformance list on its first
device, over the wire, at each level and each precision that it has. An operation
that a device refuses properly is not a fault, but the operations for training
lenet-bn are required. Output to standard output after the handshake is a fault, though
in runs the SDK for Go redirects it to standard error. A call may last 15 s; the test
ends after three cases with a device that died or did not answer.

   bnctl plugin test ./bnctl-device-mine
   bnctl plugin test ./bnctl-device-mine --level stream/1 --case conv -v
   bnctl plugin test ./bnctl-device-mine --vectors spec`,
		Flags: []cli.Flag{
			&cli.StringSliceFlag{Name: "level",
				Usage: "`LEVEL` of the wire: stream/1, shm/1 (default: all of the device)"},
			&cli.StringFlag{Name: "case", Usage: "only the cases with `TEXT` in their name: conv"},
			golden.VectorsFlag(),
			&cli.StringFlag{Name: "id", Usage: "`ID` of the device (default: the first)"},
		},
		Action: pluginTest,
	}
}

func pluginTest(c *cli.Context) error {
	if err := pluginsOf(c).CheckLevels(); err != nil {
		return err
	}
	path, err := pluginProgram(c)
	if err != nil {
		return err
	}
	command, err := pluginsOf(c).Command(path)
	if err != nil {
		return sickError{err}
	}
	options := conformance.Options{Levels: c.StringSlice("level"), Case: c.String("case"), ID: c.String("id")}
	judge := judgePlugin
	if c.IsSet("vectors") {
		judge = runVectors(c.String("vectors"))
	}
	faults, err := judge(c.Context, outputOf(c), command, options)
	var broken *conformance.Broken
	switch {
	case errors.As(err, &broken):
		return sickError{err}
	case err == nil && faults > 0:
		return sickError{fmt.Errorf("%s does not conform: %s; each quotes the rule that it breaks", path,
			plural(faults, "fault"))}
	}
	return err
}
