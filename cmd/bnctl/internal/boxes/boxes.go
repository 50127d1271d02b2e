// Package boxes has the parts of the commands data info, data show and data eval that are about sets of
// annotated boxes.
package boxes

import (
	"fmt"
	"image/png"
	"io"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/bnctl/bnctl/internal/regular"
	"github.com/bnctl/bnctl/objects"
	"github.com/bnctl/bnctl/problem"
)

// Output prints results and notes.
type Output struct {
	Result, Note func(format string, args ...any)
	Event        func(name string, v any)
}

// specOf returns the only argument. ok is true if it names a set with boxes.
func specOf(c *cli.Context) (spec string, ok bool) {
	spec = c.Args().First()
	ok = c.NArg() == 1 && !c.IsSet("csv-columns") && objects.HasBoxes(c.Context, spec)
	return spec, ok
}

// onlyFlags returns an error if a flag is given that is not in allowed, because it does not apply to a set
// with boxes.
func onlyFlags(c *cli.Context, allowed ...string) error {
	for _, name := range c.LocalFlagNames() {
		if !slices.Contains(allowed, name) {
			return problem.New(name, c.String(name), "a set with boxes has no such option", "leave it off")
		}
	}
	return nil
}

// Info prints the figures of the set that the only argument names. If the argument does not name a set with
// boxes, done is false.
func Info(c *cli.Context, out Output) (handled bool, err error) {
	spec, ok := specOf(c)
	if !ok {
		return false, nil
	}
	if err := onlyFlags(c); err != nil {
		return true, err
	}
	s, err := objects.Open(c.Context, spec, objects.Options{})
	if err != nil {
		return true, err
	}
	defer s.Close()
	r := objects.Survey(s)
	out.Event("data", r)
	for _, line := range lines(r) {
		out.Result("%s", line)
	}
	return true, nil
}

// lines returns a report about a set as text.
func lines(r *objects.Report) []string {
	text := []string{fmt.Sprintf("%s  %s, %s, %s", r.Spec, problem.Plural(r.Pictures, "picture"),
		problem.Plural(r.Boxes, "box"), problem.Plural(len(r.Classes), "class"))}
	for _, s := range r.Splits {
		text = append(text, fmt.Sprintf("%-8s %s, %s", s.Split, problem.Plural(s.Pictures, "picture"),
			problem.Plural(s.Boxes, "box")))
	}
	for _, c := range r.Classes {
		text = append(text, fmt.Sprintf("class    %s: %s in %s", c.Name, problem.Plural(c.Boxes, "box"),
			problem.Plural(c.Pictures, "picture")))
	}
	text = append(text, "         smallest, lower quartile, median, upper quartile, largest")
	for _, q := range []struct {
		name   string
		values objects.Quantiles
	}{{"boxes per picture", r.BoxesPerPicture}, {"width of boxes", r.Width}, {"height of boxes", r.Height},
		{"width / height", r.AspectRatio}, {"width of pictures", r.PictureWidth},
		{"height of pictures", r.PictureHeight}} {
		text = append(text, fmt.Sprintf("%-18s %s", q.name, numbers(q.values)))
	}
	text = append(text, fmt.Sprintf("boxes    %d small (area below 32x32), %d medium (below 96x96), %d large",
		r.Small, r.Medium, r.Large))
	return append(text, fmt.Sprintf("marks    %d difficult, %d crowd; %d outside of their pictures, %d empty, "+
		"%d duplicates, %s without boxes", r.Difficult, r.Crowd, r.Outside, r.Empty, r.Duplicates,
		problem.Plural(r.WithoutBoxes, "picture")))
}

func numbers(q objects.Quantiles) string {
	var texts []string
	for _, v := range q {
		texts = append(texts, fmt.Sprintf("%.4g", v))
	}
	return strings.Join(texts, "  ")
}

// Show draws the pictures of the set that the only argument names, with their boxes. If the argument does not
// name a set with boxes, done is false.
func Show(c *cli.Context, out Output) (handled bool, err error) {
	spec, ok := specOf(c)
	if !ok {
		return false, nil
	}
	if err := onlyFlags(c, "output", "o", "count", "columns", "side"); err != nil {
		return true, err
	}
	s, err := objects.Open(c.Context, spec, objects.Options{})
	if err != nil {
		return true, err
	}
	defer s.Close()
	count, side := c.Int("count"), c.Int("side")
	if !c.IsSet("count") {
		count = 16
	}
	if !c.IsSet("side") {
		side = 320
	}
	columns := c.Int("columns")
	if !c.IsSet("columns") {
		columns = 4
	}
	grid, n, err := objects.Overview(c.Context, s, count, columns, side)
	if err != nil {
		return true, err
	}
	path := c.String("output")
	err = regular.WriteFile(path, 0o666, func(w io.Writer) error { return png.Encode(w, grid) })
	if err != nil {
		return true, err
	}
	out.Event("data", map[string]any{"output": path, "samples": n})
	out.Result("wrote %s with %s", path, problem.Plural(n, "picture"))
	return true, nil
}
