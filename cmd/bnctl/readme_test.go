package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"

	"github.com/bnctl/bnctl/cmd/bnctl/internal/commandline"
)

// These tests check that README, docs and help describe exactly the options that the program accepts.

// pages returns the text of the files that users read, by name.
func pages(t *testing.T) map[string]string {
	t.Helper()
	paths := []string{"../../README.md", "../../CONTRIBUTING.md", "../../SECURITY.md"}
	for _, pattern := range []string{"*.md", "results/*.md", "adr/*.md", "design/*.md", "examples/*/README.md"} {
		found, err := filepath.Glob("../../docs/" + pattern)
		if err != nil || len(found) == 0 {
			t.Fatalf("docs/%s: %d pages, %v", pattern, len(found), err)
		}
		paths = append(paths, found...)
	}
	pages := map[string]string{}
	for _, p := range paths {
		b, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		pages[strings.TrimPrefix(p, "../../")] = string(b)
	}
	return pages
}

// typed returns the command lines in a text that begin with bnctl. Each ends before a pipe, a redirection or
// a remark.
func typed(text string) []string {
	var out []string
	text = strings.ReplaceAll(text, "\\\n", " ")
	for line := range strings.Lines(text) {
		line = strings.TrimPrefix(strings.TrimSpace(line), "$ ")
		if strings.HasPrefix(line, "bnctl ") && !strings.HasPrefix(line, "bnctl graph ") { // a graph's first line
			line, _, _ = strings.Cut(line, "   ")
			out = append(out, strings.TrimSpace(regexp.MustCompile(`[|>#&]`).Split(line, 2)[0]))
		}
	}
	return out
}

var (
	fences = regexp.MustCompile("(?s)```.*?```")
	spans  = regexp.MustCompile("`[^`]+`")
)

// read parses a command line like the program, without running a command.
func read(line string) error {
	app := newApp(io.Discard, io.Discard)
	var idle func(list []*cli.Command)
	idle = func(list []*cli.Command) {
		for _, c := range list {
			c.Action = func(*cli.Context) error { return nil }
			idle(c.Subcommands)
		}
	}
	idle(app.Commands)
	args, err := commandline.Order(app, strings.Fields(strings.ReplaceAll(line, `"`, "")))
	if err != nil {
		return err
	}
	return app.Run(args)
}

func TestExamplesOfHelpParse(t *testing.T) {
	n := 0
	var look func(list []*cli.Command)
	look = func(list []*cli.Command) {
		for _, c := range list {
			for _, line := range typed(c.Description) {
				n++
				if err := read(line); err != nil {
					t.Errorf("help of %s: %s: %v", c.Name, line, err)
				}
			}
			look(c.Subcommands)
		}
	}
	look(commands())
	if n < len(commands()) {
		t.Errorf("%d examples for %d commands", n, len(commands()))
	}
}

func TestCommandLinesOfPagesParse(t *testing.T) {
	for name, text := range pages(t) {
		var lines []string
		for _, block := range fences.FindAllString(text, -1) {
			lines = append(lines, typed(block)...)
		}
		for _, line := range lines {
			if err := read(line); err != nil {
				t.Errorf("%s: %s: %v", name, line, err)
			}
		}
		if name == "README.md" && len(lines) < 5 {
			t.Errorf("README.md shows only %q", lines)
		}
		// In running text, a word may stand in place of a value.
		for _, span := range spans.FindAllString(fences.ReplaceAllString(text, ""), -1) {
			for _, line := range typed(strings.Trim(span, "`")) {
				if _, err := commandline.Order(newApp(io.Discard, io.Discard), strings.Fields(line)); err != nil &&
					!strings.Contains(line, "COMMAND") {
					t.Errorf("%s: %s: %v", name, line, err)
				}
			}
		}
	}
}

// known reports whether flag, with its dashes, is a flag of the command c, a flag of one of its subcommands,
// or a global flag.
func known(c *cli.Command, flag string) bool {
	name := strings.TrimLeft(flag, "-")
	if name == "help" || hasFlag(globalFlags(), name) || hasFlag(c.Flags, name) {
		return true
	}
	return slices.ContainsFunc(c.Subcommands, func(s *cli.Command) bool { return known(s, flag) })
}

func hasFlag(flags []cli.Flag, name string) bool {
	return slices.ContainsFunc(flags, func(f cli.Flag) bool { return slices.Contains(f.Names(), name) })
}

// long matches a flag with two dashes in a code span.
var long = regexp.MustCompile(`(^|\s|` + "`" + `)--[a-z][a-z-]*`)

func longFlags(span string) []string {
	var out []string
	for _, f := range long.FindAllString(span, -1) {
		out = append(out, strings.Trim(f, " `"))
	}
	return out
}

// TestReadmeHasTheCommands reads the table of commands in README. Each command has a row, which names its
// subcommands, and the flags in a row are flags of its command.
func TestReadmeHasTheCommands(t *testing.T) {
	_, table, found := strings.Cut(pages(t)["README.md"], "\n## Commands\n")
	if !found {
		t.Fatal("README.md has no table of commands")
	}
	for _, c := range commands() {
		row := regexp.MustCompile(fmt.Sprintf("(?m)^\\| `%s[ `].*$", c.Name)).FindString(table)
		if row == "" {
			t.Errorf("README.md has no row for %s", c.Name)
		}
		for _, s := range c.Subcommands {
			if !strings.Contains(row, s.Name) {
				t.Errorf("README.md does not name %s %s", c.Name, s.Name)
			}
		}
		for _, span := range spans.FindAllString(row, -1) {
			for _, f := range longFlags(span) {
				if !known(c, f) {
					t.Errorf("README.md: %s has no flag %s", c.Name, f)
				}
			}
		}
	}
}

// TestFlagsOfReadmeExist reads all code spans of README, and of the page for users of other programs without
// the column that has the terms of these programs.
func TestFlagsOfReadmeExist(t *testing.T) {
	program, n := &cli.Command{Subcommands: commands()}, 0
	text := pages(t)["README.md"] + pages(t)["docs/coming-from.md"]
	for line := range strings.Lines(fences.ReplaceAllString(text, "")) {
		if cells := strings.Split(line, " | "); len(cells) == 2 {
			line = cells[1]
		}
		for _, span := range spans.FindAllString(line, -1) {
			for _, f := range longFlags(span) {
				if n++; !known(program, f) {
					t.Errorf("README.md: no command has the flag %s", f)
				}
			}
		}
	}
	if n < 20 {
		t.Errorf("only %d flags were found", n)
	}
}

// TestLinksOfPages checks that the links of the pages, and the paths that CONTRIBUTING names, lead to files.
func TestLinksOfPages(t *testing.T) {
	link, path := regexp.MustCompile(`\]\(([^):]+)\)`), regexp.MustCompile("`([a-z]+/[a-z/._-]+)`")
	n := 0
	for name, text := range pages(t) {
		targets := link.FindAllStringSubmatch(text, -1)
		for i, m := range targets {
			file, _, _ := strings.Cut(m[1], "#")
			targets[i][1] = filepath.Join(filepath.Dir(name), file)
		}
		if name == "CONTRIBUTING.md" {
			targets = append(targets, path.FindAllStringSubmatch(text, -1)...)
		}
		for _, m := range targets {
			n++
			if _, err := os.Stat(filepath.Join("../..", m[1])); err != nil {
				t.Errorf("%s: %s leads nowhere", name, m[1])
			}
		}
	}
	if n < 20 {
		t.Errorf("only %d links were found", n)
	}
}

// TestIndexHasThePages: docs/README.md has a link to every page.
func TestIndexHasThePages(t *testing.T) {
	all := pages(t)
	for name := range all {
		rel, err := filepath.Rel("docs", name)
		if err != nil {
			t.Fatal(err)
		}
		top := name == "README.md" || name == "CONTRIBUTING.md" || name == "docs/README.md"
		if example := strings.TrimSuffix(rel, "/README.md"); !top &&
			!strings.Contains(all["docs/README.md"], "]("+rel+")") &&
			!strings.Contains(all["docs/README.md"], "]("+example+")") {
			t.Errorf("docs/README.md has no link to %s", name)
		}
	}
}
