package main

import (
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"

	"github.com/bnctl/bnctl/cmd/bnctl/internal/commandline"
)

func TestEveryHelpHasExamples(t *testing.T) {
	var look func(path string, list []*cli.Command)
	look = func(path string, list []*cli.Command) {
		for _, c := range list {
			name := path + " " + c.Name
			if c.Usage == "" || !strings.Contains(c.Description, "   "+name) {
				t.Errorf("%s: its help has no example of it", name)
			}
			look(name, c.Subcommands)
		}
	}
	look("bnctl", commands())
}

// Two flags must not share a name, because one of them could not be set.
func TestFlagsHaveOneMeaning(t *testing.T) {
	var look func(list []*cli.Command)
	look = func(list []*cli.Command) {
		for _, c := range list {
			seen := map[string]bool{"help": true, "h": true}
			for _, f := range slices.Concat(globalFlags(), c.Flags) {
				for _, n := range f.Names() {
					if seen[n] {
						t.Errorf("%s: flag %s is there twice", c.Name, n)
					}
					seen[n] = true
				}
			}
			look(c.Subcommands)
		}
	}
	look(commands())
}

func TestReorder(t *testing.T) {
	for line, want := range map[string]string{
		"train --data x --json -o m":        "--json train --data x -o m",
		"--batch 3 eval m --data=x":         "eval --batch 3 --data=x -- m",
		"data --json info x":                "--json data info -- x",
		"predict m -- -x --json":            "predict -- m -x --json",
		"train --lr -3 --quiet":             "--quiet train --lr -3",
		"models show --text resnet20":       "models show --text -- resnet20",
		"eval models --data x":              "eval --data x -- models",
		"train --help --data x":             "train --help --data x",
		"devices list --device-plugin p -v": "-v devices list --device-plugin p",
	} {
		got, err := commandline.Order(newApp(io.Discard, io.Discard), strings.Fields("bnctl "+line))
		if err != nil {
			t.Errorf("%s: %v", line, err)
		} else if s := strings.Join(got[1:], " "); s != want {
			t.Errorf("%s: got %s, want %s", line, s, want)
		}
	}
}
