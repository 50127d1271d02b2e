package main

import (
	"context"
	"fmt"
	"io"

	"github.com/urfave/cli/v2"

	"github.com/bnctl/bnctl/cmd/bnctl/internal/commandline"
	"github.com/bnctl/bnctl/cmd/bnctl/internal/manual"
	"github.com/bnctl/bnctl/fleet"
)

// commands returns the table of commands, in the order that help lists them.
func commands() []*cli.Command {
	return []*cli.Command{
		demoCommand(), trainCommand(), evalCommand(), predictCommand(), stripCommand(), exportCommand(),
		quantizeCommand(), reproduceCommand(), verifyCommand(), keygenCommand(),
		inspectCommand(), doctorCommand(), benchCommand(), serveCommand(), studyCommand(), reportCommand(),
		devicesCommand(), dataCommand(), modelsCommand(), pluginCommand(), manual.Command(), versionCommand(),
	}
}

// globalFlags are accepted anywhere on the command line.
func globalFlags() []cli.Flag {
	return append([]cli.Flag{
		&cli.BoolFlag{Name: "json", Usage: "print results as JSON lines"},
		&cli.BoolFlag{Name: "v", Usage: "print more: the logs of plugins"},
		&cli.BoolFlag{Name: "quiet", Usage: "no progress, no notes"},
		&cli.BoolFlag{Name: "no-color", Usage: "plain text on terminals too"},
		&cli.BoolFlag{Name: "until-eof", Usage: "stop, as at SIGTERM, when standard input ends"},
		&cli.BoolFlag{Name: "version", Usage: "print the version"},
	}, storeFlags()...)
}

// run runs one command line and returns the exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	if fleet.Serve(args) {
		return exitDone
	}
	app := newApp(stdout, stderr)
	ctx, stop := withSignals(ctx, commandline.Has(args, "json"), stderr, commandline.Until(args))
	defer stop()
	err := openStores(ctx, args, stderr)
	if err == nil {
		args, err = commandline.Order(app, visible(args))
	}
	if err == nil {
		err = app.RunContext(ctx, args)
	}
	return report(ctx, err, commandline.Has(args, "json"), stderr)
}

func newApp(stdout, stderr io.Writer) *cli.App {
	app := &cli.App{
		Name:            "bnctl",
		Usage:           "train batch-normalised networks on many devices, strip, predict with the template",
		UsageText:       "bnctl [flags] COMMAND [flags and arguments in any order]",
		Version:         version(),
		HideVersion:     true,
		HideHelpCommand: true,
		Flags:           globalFlags(),
		Commands:        commands(),
		Writer:          stdout,
		ErrWriter:       stderr,
		ExitErrHandler:  func(*cli.Context, error) {}, // report determines the exit code
		OnUsageError:    func(_ *cli.Context, err error, _ bool) error { return misuse("%v", err) },
		Action:          root,
	}
	foldHelp()
	plain(app.Flags)
	for _, c := range app.Commands {
		prepare(c)
	}
	return app
}

// prepare sets the common properties of commands.
func prepare(c *cli.Command) {
	c.HideHelpCommand = true
	plain(c.Flags)
	group(c.Flags)
	c.OnUsageError = func(_ *cli.Context, err error, _ bool) error { return misuse("%v", err) }
	for _, sub := range c.Subcommands {
		prepare(sub)
	}
	if c.Action == nil && len(c.Subcommands) > 0 {
		c.Action = func(ctx *cli.Context) error { return commandline.UnknownSubcommand(ctx, c) }
	}
}

// plain removes the default value "false" of switches from their help.
func plain(flags []cli.Flag) {
	for _, f := range flags {
		if b, ok := f.(*cli.BoolFlag); ok {
			b.DisableDefaultText = true
		}
	}
}

// root runs if the command line names no command.
func root(c *cli.Context) error {
	if c.Bool("version") {
		_, err := fmt.Fprintln(c.App.Writer, "bnctl", c.App.Version)
		return err
	}
	if c.NArg() == 0 {
		return cli.ShowAppHelp(c)
	}
	return commandline.UnknownCommand(c.App, c.Args().First())
}
