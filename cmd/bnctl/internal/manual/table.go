package manual

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/bnctl/bnctl/problem"
)

// tableCommand is a command in the form that "completion json" prints.
type tableCommand struct {
	Name     string         `json:"name"`
	Usage    string         `json:"usage"`
	Flags    []tableFlag    `json:"flags"`
	Commands []tableCommand `json:"commands,omitempty"`
}

// tableFlag is a flag in the form that "completion json" prints.
type tableFlag struct {
	Name    string   `json:"name"` // without dashes
	Aliases []string `json:"aliases,omitempty"`
	Type    string   `json:"type"` // bool, int, float, string, strings or duration
	Default string   `json:"default,omitempty"`
	Usage   string   `json:"usage"`
	Words   []string `json:"words,omitempty"` // possible values; a value that ends in a colon must be continued
}

// tableAction prints the table of commands for other programs.
func tableAction(c *cli.Context) error {
	if c.NArg() > 0 {
		return problem.New("", "", fmt.Sprintf("completion json takes no argument %q", c.Args().First()), "")
	}
	e := json.NewEncoder(c.App.Writer)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	return e.Encode(tableCommand{c.App.Name, c.App.Usage, tableFlags(c.App.Flags),
		tableCommands(c.App.Commands)})
}

// tableCommands returns the commands that are not hidden, in the order of the help.
func tableCommands(list []*cli.Command) (commands []tableCommand) {
	for _, c := range list {
		if !c.Hidden && c.Name != "help" {
			commands = append(commands, tableCommand{c.Name, c.Usage, tableFlags(c.Flags),
				tableCommands(c.Subcommands)})
		}
	}
	return commands
}

// tableFlags returns the flags that are not hidden, sorted by name.
func tableFlags(list []cli.Flag) []tableFlag {
	all := []tableFlag{}
	for _, f := range list {
		d, ok := f.(cli.DocGenerationFlag)
		if v, hides := f.(cli.VisibleFlag); !ok || hides && !v.IsVisible() || f.Names()[0] == "help" {
			continue
		}
		t := tableFlag{Name: f.Names()[0], Aliases: f.Names()[1:], Type: typeOf(f), Words: values[f.Names()[0]],
			Usage: strings.ReplaceAll(d.GetUsage(), "`", "")}
		if d.TakesValue() {
			t.Default = strings.Trim(d.GetDefaultText(), `"`)
		}
		if t.Name == "model" {
			t.Words = zoo()
		}
		all = append(all, t)
	}
	slices.SortFunc(all, func(a, b tableFlag) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// typeOf returns the type of a flag's value.
func typeOf(f cli.Flag) string {
	switch f.(type) {
	case *cli.BoolFlag:
		return "bool"
	case *cli.IntFlag, *cli.Uint64Flag, *cli.Int64Flag, *cli.UintFlag:
		return "int"
	case *cli.Float64Flag:
		return "float"
	case *cli.StringSliceFlag:
		return "strings"
	case *cli.DurationFlag:
		return "duration"
	}
	return "string"
}
