package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/mattn/go-isatty"
	"github.com/urfave/cli/v2"

	"github.com/bnctl/bnctl/internal/legible"
	"github.com/bnctl/bnctl/internal/waiting"
	"github.com/bnctl/bnctl/problem"
)

type lines = legible.Lines

func legibly(text string) string { return legible.Text(text) }

// output prints results of a command to stdout, as text or JSON lines, and notes and progress to stderr.
type output struct {
	stdout, stderr    io.Writer
	json              bool
	quiet, verbose    bool
	terminal, colours bool // properties of stderr
	draws             bool // a drawing on stderr is permitted
}

func outputOf(c *cli.Context) *output {
	o := &output{stdout: c.App.Writer, stderr: c.App.ErrWriter,
		json: c.Bool("json"), quiet: c.Bool("quiet"), verbose: c.Bool("v")}
	o.terminal = isTerminal(o.stderr)
	o.draws = o.terminal && !o.quiet && !(o.json && isTerminal(o.stdout)) // stdout would interrupt it
	o.colours = o.terminal && !c.Bool("no-color") && os.Getenv("NO_COLOR") == ""
	return o
}

// isTerminal reports whether w is a terminal that can draw lines again, so that it is not dumb.
func isTerminal(w io.Writer) bool {
	return isScreen(w) && os.Getenv("TERM") != "dumb"
}

// isScreen reports whether w is a terminal of any kind.
func isScreen(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && isatty.IsTerminal(f.Fd())
}

// csvTo returns a writer of CSV to w. If w is a terminal, control characters are removed from names.
func csvTo(w io.Writer) io.Writer {
	if isScreen(w) {
		return &legible.Writer{To: w}
	}
	return w
}

// waiting returns a line that shows the current activity of a device, unless --quiet is given.
func (o *output) waiting() *waiting.Line {
	return waiting.New(o.stderr, !o.quiet, !o.quiet && o.terminal, 10*time.Second)
}

// result prints a line of text, unless results are JSON. Control characters in args are made legible.
func (o *output) result(format string, args ...any) {
	if !o.json {
		fmt.Fprintln(o.stdout, legible.Sprintf(format, args...))
	}
}

// event prints v as a line of JSON, if results are JSON. The event's name and the schema come first.
func (o *output) event(name string, v any) {
	if !o.json {
		return
	}
	body, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("event %s: %v", name, err)) // only types of this program are passed
	}
	head := fmt.Sprintf(`{"event":%q,"schema":1`, name)
	if len(body) > 2 {
		head += ","
	}
	fmt.Fprintf(o.stdout, "%s%s\n", head, body[1:])
}

// line prints a line of JSON that another bnctl process has written, if results are JSON.
func (o *output) line(text string) {
	if o.json {
		fmt.Fprintln(o.stdout, text)
	}
}

// plural returns a number with a noun that has a regular plural.
func plural(n int, thing string) string { return problem.Plural(n, thing) }

// note prints a message for the user, unless --quiet is given. It makes the arguments legible.
func (o *output) note(format string, args ...any) {
	if o.quiet {
		return
	}
	text := legible.Short(withURLs(legible.Sprintf(format, args...)))
	waiting.Above(o.stderr, func() { fmt.Fprintln(o.stderr, text) })
}

// noteFolded is like note. It breaks the line if it is longer than a row of the terminal.
func (o *output) noteFolded(format string, args ...any) {
	text := legible.Sprintf(format, args...)
	if o.terminal {
		text = legible.Fold(text, waiting.Columns(o.stderr))
	}
	o.note("%v", lines(text))
}

// notes prints several notes about the value of a flag.
func (o *output) notes(flag string, notes []string) {
	for _, n := range notes {
		o.note("%s: %s", flag, n)
	}
}

// noteOptions is like note, for messages of the library. Options in braces are replaced by flags.
func (o *output) noteOptions(format string, args ...any) {
	o.note("%s", inFlags(fmt.Sprintf(format, args...)))
}
