package commandline

import (
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/bnctl/bnctl/cmd/bnctl/internal/nearest"
)

// UnknownCommand returns the error for the name of a command that does not exist.
func UnknownCommand(app *cli.App, name string) error {
	var names []string
	for _, c := range app.Commands {
		names = append(names, c.Name)
	}
	return Misuse("unknown command %q%s; commands are %s", name, nearest.Name(name, names),
		strings.Join(names, ", "))
}

// UnknownSubcommand returns the error for a command line of c that names no subcommand, or one that does not
// exist.
func UnknownSubcommand(ctx *cli.Context, c *cli.Command) error {
	var names []string
	for _, s := range c.Subcommands {
		names = append(names, s.Name)
	}
	if ctx.NArg() == 0 && len(names) == 1 {
		return misadvise("bnctl "+c.Name+" "+names[0]+" --help shows examples", "%s needs %s", c.Name, names[0])
	}
	if ctx.NArg() == 0 {
		return Misuse("%s needs one of %s", c.Name, strings.Join(names, ", "))
	}
	name := ctx.Args().First()
	return Misuse("unknown command %q%s; %s has %s", c.Name+" "+name, nearest.Name(name, names), c.Name,
		strings.Join(names, ", "))
}

func (r *ordering) unknownFlag(name string) error {
	var names, words []string
	for _, f := range slices.Concat(r.path[len(r.path)-1].Flags, r.app.Flags) {
		for _, n := range f.Names() {
			names = append(names, "--"+n)
		}
	}
	for _, c := range r.path {
		words = append(words, c.Name)
	}
	command := strings.Join(words, " ")
	return misadvise("bnctl "+command+" --help lists the flags",
		"unknown flag --%s for %s%s", name, command, nearest.Name("--"+name, names))
}
