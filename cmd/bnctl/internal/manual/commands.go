package manual

import (
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
)

// command is the program itself, or one of its commands with its path.
type command struct {
	path        []string // "bnctl", "data", "info"
	usage       string
	text        string // its usage line
	description string
	subcommands []command
	flags       []flag
}

// flag is a flag of a command.
type flag struct {
	name  string // without dashes
	value string // placeholder of its value: FILE; empty for a switch
	usage string
	words []string // values that can be completed, for example cosine and plateau:
}

// commandsOf returns the program with all of its commands, except hidden ones.
func commandsOf(app *cli.App) command {
	c := command{path: []string{app.Name}, usage: app.Usage, text: app.UsageText, flags: flagsOf(app.Flags)}
	c.subcommands = flatten(c.path, app.Commands, c.flags)
	return c
}

// flatten returns the commands of a list and their subcommands, each with its flags and with the global
// flags, which may be given anywhere.
func flatten(path []string, list []*cli.Command, global []flag) (commands []command) {
	for _, c := range list {
		if c.Hidden || c.Name == "help" { // the cli library adds the command help
			continue
		}
		added := command{path: append(slices.Clone(path), c.Name), usage: c.Usage, description: c.Description,
			flags: append(flagsOf(c.Flags), global...)}
		added.text = strings.Join(added.path, " ") + " [options] " + c.ArgsUsage
		if len(c.Subcommands) > 0 {
			added.text = strings.Join(added.path, " ") + " COMMAND [options]"
		}
		added.subcommands = flatten(added.path, c.Subcommands, global)
		commands = append(commands, added)
	}
	return commands
}

// flagsOf returns the flags that help shows.
func flagsOf(list []cli.Flag) (flags []flag) {
	for _, f := range list {
		d, ok := f.(cli.DocGenerationFlag)
		if v, hides := f.(cli.VisibleFlag); !ok || hides && !v.IsVisible() {
			continue
		}
		name := f.Names()[0]
		if name == "help" {
			continue
		}
		usage, value := d.GetUsage(), ""
		if d.TakesValue() {
			value = placeholder(usage)
		}
		flags = append(flags, flag{name: name, value: value, usage: strings.ReplaceAll(usage, "`", ""),
			words: values[name]})
	}
	return flags
}

// placeholder returns the name of a flag's value, which is between back quotes in the usage.
func placeholder(usage string) string {
	if _, after, ok := strings.Cut(usage, "`"); ok {
		if name, _, ok := strings.Cut(after, "`"); ok {
			return name
		}
	}
	return "VALUE"
}

// walk calls f for a command and for all commands below it.
func (c command) walk(f func(command)) {
	f(c)
	for _, s := range c.subcommands {
		s.walk(f)
	}
}

// joined returns the path of a command, joined by a separator.
func (c command) joined(separator string) string { return strings.Join(c.path, separator) }

// name sets the words that complete a flag, in c and in all commands below it.
func (c command) name(flag string, words []string) {
	c.walk(func(c command) {
		for i, f := range c.flags {
			if f.name == flag {
				c.flags[i].words = words
			}
		}
	})
}

// long returns the flag as a user types it, with its dashes.
func (f flag) long() string {
	if len(f.name) == 1 {
		return "-" + f.name
	}
	return "--" + f.name
}
