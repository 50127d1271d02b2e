package manual

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"
)

// pages writes a manual page for the program and for each of its commands into a folder, for example bnctl.1
// and bnctl-data-info.1. It returns the names of the files.
func pages(folder string, app *cli.App) (names []string, err error) {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return nil, err
	}
	root := commandsOf(app)
	root.walk(func(c command) {
		if err != nil {
			return
		}
		var page strings.Builder
		c.page(&page, root, app.Version)
		name := c.joined("-") + ".1"
		names, err = append(names, name), os.WriteFile(filepath.Join(folder, name), []byte(page.String()), 0o644)
	})
	return names, err
}

// page writes the manual page of a command, with the macros of man(7).
func (c command) page(w io.Writer, root command, version string) {
	title := c.joined("-")
	fmt.Fprintf(w, ".TH %q 1 \"\" %q\n.SH NAME\n%s \\- %s\n", strings.ToUpper(title),
		root.path[0]+" "+version, roff(title), roff(c.usage))
	fmt.Fprintf(w, ".SH SYNOPSIS\n%s\n", roff(strings.TrimSpace(c.text)))
	if c.description != "" {
		fmt.Fprint(w, ".SH DESCRIPTION\n")
		paragraphs(w, c.description)
	}
	if len(c.subcommands) > 0 {
		fmt.Fprint(w, ".SH COMMANDS\n")
		for _, s := range c.subcommands {
			fmt.Fprintf(w, ".TP\n.B %s\n%s\n", roff(s.joined("-")+"(1)"), roff(s.usage))
		}
	}
	fmt.Fprint(w, ".SH OPTIONS\n")
	for _, f := range c.flags {
		tag := ".B " + roff(f.long())
		if f.value != "" {
			tag = fmt.Sprintf(".BI \"%s \" %s", roff(f.long()), roff(f.value))
		}
		fmt.Fprintf(w, ".TP\n%s\n%s\n", tag, roff(f.usage))
	}
	if len(c.path) > 1 {
		fmt.Fprintf(w, ".SH \"SEE ALSO\"\n%s\n", roff(root.path[0]+"(1)"))
	}
}

// paragraphs writes a description. Its indented lines are examples, which are not filled.
func paragraphs(w io.Writer, text string) {
	example := false
	for _, line := range strings.Split(text, "\n") {
		switch deep := strings.HasPrefix(line, "   "); {
		case strings.TrimSpace(line) == "":
			if example {
				fmt.Fprint(w, ".EE\n")
				example = false
			}
			fmt.Fprint(w, ".PP\n")
			continue
		case deep && !example:
			fmt.Fprint(w, ".EX\n")
			example = true
		case !deep && example:
			fmt.Fprint(w, ".EE\n")
			example = false
		}
		fmt.Fprintln(w, roff(line))
	}
	if example {
		fmt.Fprint(w, ".EE\n")
	}
}

// roff escapes text that troff would interpret as a command.
func roff(s string) string {
	s = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(s)
	if strings.HasPrefix(s, ".") || strings.HasPrefix(s, "'") {
		s = `\&` + s
	}
	return s
}
