package commandline

import (
	"cmp"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
)

// Order returns a command line in the order that the cli library needs: global flags, command, subcommand,
// its flags, and then arguments. Users may write flags and arguments in any order; "--" ends the flags.
// Unknown commands and flags are misuses. Their errors suggest a known name.
func Order(app *cli.App, args []string) ([]string, error) {
	r := &ordering{app: app}
	rest := args[1:]
	for len(rest) > 0 {
		var err error
		if rest, err = r.take(rest); err != nil {
			return nil, err
		}
	}
	if err := r.contradiction(); err != nil {
		return nil, err
	}
	out := append([]string{args[0]}, r.global...)
	for _, c := range r.path {
		out = append(out, c.Name)
	}
	out = append(out, r.local...)
	if len(r.positional) > 0 {
		out = append(append(out, "--"), r.positional...)
	}
	return out, nil
}

type ordering struct {
	app                       *cli.App
	path                      []*cli.Command // command and subcommand
	global, local, positional []string
	flags                     map[string]string // flags that were given, with their values
}

// take moves the first element of args into its place, and returns the rest.
func (r *ordering) take(args []string) ([]string, error) {
	arg := args[0]
	switch {
	case arg == "--":
		r.positional = append(r.positional, args[1:]...)
		return nil, nil
	case len(arg) > 1 && arg[0] == '-' && !negative(arg):
		return r.flag(args)
	}
	if arg == "help" && len(r.path) == 0 {
		r.local = append(r.local, "--help")
		return args[1:], nil
	}
	if next := r.command(arg); next != nil {
		r.path = append(r.path, next)
		return args[1:], nil
	}
	if len(r.path) == 0 {
		return nil, UnknownCommand(r.app, arg)
	}
	r.positional = append(r.positional, arg)
	return args[1:], nil
}

// negative reports whether arg, which begins with "-", is a negative number and not a flag.
func negative(arg string) bool { return arg[1] >= '0' && arg[1] <= '9' || arg[1] == '.' }

// command returns the command that arg names at this position, or nil if it names no command.
func (r *ordering) command(arg string) *cli.Command {
	list := r.app.Commands
	if len(r.path) > 0 {
		list = r.path[len(r.path)-1].Subcommands
	}
	if len(r.positional) > 0 {
		return nil
	}
	for _, c := range list {
		if c.HasName(arg) {
			return c
		}
	}
	return nil
}

// flag puts a flag with its value into its place, and returns the remaining arguments.
func (r *ordering) flag(args []string) ([]string, error) {
	name, value, joined := strings.Cut(strings.TrimLeft(args[0], "-"), "=")
	if name == "help" || name == "h" {
		r.local = append(r.local, "--help")
		return args[1:], nil
	}
	target, f := &r.global, find(r.app.Flags, name)
	if f == nil && len(r.path) > 0 {
		target, f = &r.local, find(r.path[len(r.path)-1].Flags, name)
	}
	if f == nil && len(r.path) == 0 {
		return r.checkOrder(args)
	}
	if f == nil {
		return nil, r.unknownFlag(name)
	}
	used := 1
	switch _, isBool := f.(*cli.BoolFlag); {
	case joined:
	case isBool:
		value = "true"
	case len(args) == 1:
		return nil, Misuse("flag --%s needs a value", name)
	default:
		value, used = args[1], 2
	}
	if err := cmp.Or(CheckValue(f, value), r.checkRepeated(f, value)); err != nil {
		return nil, err
	}
	*target = append(*target, args[:used]...)
	return args[used:], nil
}

// checkOrder moves a flag that is written before its command to the place after it.
func (r *ordering) checkOrder(args []string) ([]string, error) {
	for i, a := range args {
		if c := r.command(a); c != nil && i > 0 {
			return append([]string{a}, slices.Delete(slices.Clone(args), i, i+1)...), nil
		}
	}
	return nil, misadvise("bnctl --help lists the commands", "unknown flag %s before a command", args[0])
}

func find(flags []cli.Flag, name string) cli.Flag {
	for _, f := range flags {
		if slices.Contains(f.Names(), name) {
			return f
		}
	}
	return nil
}

// Has reports whether the command line has a global switch.
func Has(args []string, name string) bool {
	for _, a := range args {
		if a == "--" {
			return false
		}
		if a == "--"+name || a == "-"+name {
			return true
		}
	}
	return false
}

// Value returns the value of a global flag, and whether the command line has the flag.
func Value(args []string, name string) (string, bool) {
	for i, a := range args {
		if a == "--" {
			break
		}
		flag, value, joined := strings.Cut(strings.TrimLeft(a, "-"), "=")
		if flag != name || !strings.HasPrefix(a, "-") {
			continue
		}
		if !joined && i+1 < len(args) {
			return args[i+1], true
		}
		return value, joined
	}
	return "", false
}

// Until returns the standard input if the command line has --until-eof: the program must stop when this input
// ends. Otherwise it returns nil.
func Until(args []string) io.Reader {
	if Has(args, "until-eof") {
		return os.Stdin
	}
	return nil
}
