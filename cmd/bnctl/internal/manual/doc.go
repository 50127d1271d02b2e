// Package manual describes bnctl's commands for shells and for man: the scripts that
// complete command lines in bash, zsh and fish, and the manual pages. Everything is
// generated from the table of commands, so that it is always current.
package manual

import (
	"fmt"

	"github.com/urfave/cli/v2"

	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/problem"
)

// Command returns the command completion.
func Command() *cli.Command {
	list := []*cli.Command{}
	for _, shell := range []string{"bash", "zsh", "fish"} {
		list = append(list, &cli.Command{Name: shell, Usage: "the script for " + shell, Description: install[shell],
			Action: func(c *cli.Context) error {
				if c.NArg() > 0 {
					text := fmt.Sprintf("completion %s accepts no argument %q", shell, c.Args().First())
					return problem.New("", "", text, "")
				}
				root := commandsOf(c.App)
				root.name("model", zoo())
				shells[shell](c.App.Writer, root)
				return nil
			}})
	}
	list = append(list, &cli.Command{Name: "json", Usage: "the table of commands and flags, as JSON",
		Description: "   bnctl completion json >commands.json", Action: tableAction})
	list = append(list, &cli.Command{Name: "man", Usage: "manual pages, into a folder", ArgsUsage: "DIR",
		Description: "   bnctl completion man ~/.local/share/man/man1 && man bnctl-train",
		Action:      pagesAction})
	return &cli.Command{Name: "completion", Usage: "scripts that complete command lines, and manual pages",
		Description: "   bnctl completion bash\n   bnctl completion man man1", Subcommands: list}
}

var install = map[string]string{
	"bash": "   bnctl completion bash >~/.local/share/bash-completion/completions/bnctl",
	"zsh":  "   bnctl completion zsh >\"${fpath[1]}/_bnctl\"",
	"fish": "   bnctl completion fish >~/.config/fish/completions/bnctl.fish",
}

func pagesAction(c *cli.Context) error {
	if c.NArg() != 1 {
		return problem.New("", "", "completion man needs one folder to write to",
			"bnctl completion man ~/.local/share/man/man1")
	}
	names, err := pages(c.Args().First(), c.App)
	if err == nil {
		_, err = fmt.Fprintf(c.App.Writer, "wrote %d pages to %s\n", len(names), c.Args().First())
	}
	return err
}

// zoo returns the names that --model accepts.
func zoo() (names []string) {
	for _, a := range models.Architectures() {
		names = append(names, a.Name)
	}
	return names
}
