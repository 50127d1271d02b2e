package manual

import (
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
)

// A command is a place of the command line: the program itself, or a command with its path.
type command struct {
	path        []string // "bnctl", "data", "info"
	usage       string
	text        string // the form of its command line
	description string
	subcommands []command
	flags       []flag
}

// A flag of a command.
type flag struct {
	name  string // without dashes
	value string // name of a value: FILE; empty for a switch
	usage string
	words []string // values that are words: cosine, plateau:
}

// commandsOf returns the program with all of its commands, without those that are hidden.
func commandsOf(app *cli.App) command {
	c := command{path: []string{app.Name}, usage: app.Usage, text: app.UsageText, flags: flagsOf(app.Flags)}
	c.subcommands = below(c.path, app.Commands, c.flags)
	return c
}

// below returns commands with their flags and the global flags, which are accepted
// anywhere.
func below(path []string, list []*cli.Command, global []flag) (all []command) {
	for _, c := range list {
		if c.Hidden || c.Name == "help" { // added by the library
			continue
		}
		added := command{path: append(slices.Clone(path), c.Name), usage: c.Usage, description: c.Description,
			flags: append(flagsOf(c.Flags), global...)}
		added.text = strings.Join(added.path, " ") + " [options] " + c.ArgsUsage
		if len(c.Subcommands) > 0 {
			added.text = strings.Join(added.path, " ") + " COMMAND [options]"
		}
		added.subcommands = below(added.path, c.Subcommands, global)
		all = append(all, added)
	}
	return all
}

// flagsOf returns the flags that help shows.
func flagsOf(list []cli.Flag) (all []flag) {
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
		all = append(all, flag{name: name, value: value, usage: strings.ReplaceAll(usage, "`", ""),
			words: values[name]})
	}
	return all
}

// placeholder is the name of a flag's value: what its usage has between back quotes.
func placeholder(usage string) string {
	if _, after, ok := strings.Cut(usage, "`"); ok {
		if name, _, ok := strings.Cut(after, "`"); ok {
			return name
		}
	}
	return "VALUE"
}

// walk calls f for a command and all below it.
func (c command) walk(f func(command)) {
	f(c)
	for _, s := range c.subcommands {
		s.walk(f)
	}
}

// joined returns the path of a command in one word.
func (c command) joined(by string) string { return strings.Join(c.path, by) }

// name gives the words of a flag wherever it is.
func (c command) name(flag string, words []string) {
	c.walk(func(c command) {
		for i, f := range c.flags {
			if f.name == flag {
				c.flags[i].words = words
			}
		}
	})
}

// long returns a flag as it is typed.
func (f flag) long() string {
	if len(f.name) == 1 {
		return "-" + f.name
	}
	return "--" + f.name
}
