package report

import (
	_ "embed"
	"errors"
	"fmt"
	"html/template"
	"io"
	"sync"

	"github.com/bnctl/bnctl/internal/style"
	"github.com/bnctl/bnctl/problem"
)

//go:embed page.html
var pageText string

var pageTemplate = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("page").Parse(pageText))
})

// page has the data for the HTML template.
type page struct {
	Title, Subtitle, Footer string
	Style                   template.CSS
	Swatches                [seriesColours]struct{}
	Facts                   []fact
	Notes                   []string
	Comparison              *comparison
	Curves                  []drawing
	Norms                   *normsSection
	Classes                 *classesSection
	Times                   []times
	Runs                    []runSection
}

// seriesColours is the number of different colours for curves.
const seriesColours = 6

type fact struct{ Name, Value, Small string }

// drawing is a picture with its description in words.
type drawing struct {
	Title, Caption string
	SVG            template.HTML
}

// table is a table on a page. Texts states which columns have text, not numbers.
type table struct {
	Label, Note string
	Heads       []string
	Texts       []bool
	Rows        []row
}

type row struct {
	Cells []cell
	Mark  bool
}

// cell is a cell of a table, with a text. It may have the colour of a run before the text, or below it a bar
// with a length in percent.
type cell struct {
	Text, Swatch string
	Bar          float64
}

func cells(texts ...string) row {
	var r row
	for _, t := range texts {
		r.Cells = append(r.Cells, cell{Text: t})
	}
	return r
}

// writePage writes an HTML page about runs. The page needs no other files. If there are several runs, it
// compares them.
func writePage(w io.Writer, runs ...*Run) error {
	if len(runs) == 0 {
		return errors.New("a report of no run")
	}
	named := distinct(runs)
	p := page{Style: template.CSS(style.CSS()), Curves: curvesOf(named),
		Footer: "Written by bnctl " + releases(runs) + ". The page refers to no other file."}
	if len(runs) == 1 {
		p.addRun(runs[0])
	} else {
		p.several(named)
	}
	for i, r := range named {
		s := r.section(len(runs) > 1)
		s.ID = fmt.Sprintf("run%d", i)
		p.Runs = append(p.Runs, s)
		p.Times = append(p.Times, r.times(len(runs) > 1)...)
	}
	return pageTemplate().Execute(w, p)
}

// addRun sets the sections of a page that describe a single run.
func (p *page) addRun(r *Run) {
	k := r.start.recipe
	p.Title, p.Subtitle = r.Name, "A run without a recipe."
	if k.Model != "" {
		p.Title = k.Model + " on " + k.Data.InWords()
		p.Subtitle = r.Name + " · " + r.state()
		if k.Validation.Samples > 0 {
			p.Subtitle += " · validation on " + k.Validation.InWords()
		}
	}
	p.Facts, p.Notes = r.facts(), r.Notes
	p.Norms, p.Classes = r.normsSection(), r.classesSection()
}

// facts returns the figures that a reader looks for first.
func (r *Run) facts() []fact {
	var list []fact
	if b := r.best(); b != nil {
		v, name := b.score()
		list = append(list, fact{"best " + name, percent(v), fmt.Sprintf("epoch %d of %d", b.Epoch,
			max(len(r.epochs), r.start.recipe.Epochs))})
		last := &r.epochs[len(r.epochs)-1]
		if last != b {
			v, _ = last.score()
			list = append(list, fact{"last " + name, percent(v), fmt.Sprintf("epoch %d", last.Epoch)})
		}
		if last.ValLoss.v != nil {
			list = append(list, fact{"validation loss", number4(last.ValLoss.float()),
				"train loss " + number4(last.TrainLoss.float())})
		} else {
			list = append(list, fact{"train loss", number4(last.TrainLoss.float()), ""})
		}
		list = append(list, fact{"time", duration(r.seconds()), problem.Plural(len(r.epochs), "epoch")},
			fact{"images a second", thousands(last.Throughput.float()), "last epoch"})
	}
	if r.start.TotalSteps > 0 {
		list = append(list, fact{"steps", fmt.Sprintf("%d", r.stands), fmt.Sprintf("of %d", r.start.TotalSteps)})
	}
	if n := r.start.Parameters; n > 0 {
		list = append(list, fact{"parameters", thousands(float64(n)), ""})
	}
	return list
}

// distinct returns copies of the runs with different names: a number is added to a name that repeats an
// earlier one.
func distinct(runs []*Run) []*Run {
	seen := map[string]int{}
	var out []*Run
	for _, r := range runs {
		c := *r
		if seen[c.Name]++; seen[c.Name] > 1 {
			c.Name = fmt.Sprintf("%s (%d)", c.Name, seen[c.Name])
		}
		out = append(out, &c)
	}
	return out
}

// releases returns the releases of bnctl that trained the runs.
func releases(runs []*Run) string {
	text := ""
	for _, r := range runs {
		if v := r.start.recipe.Release; v != "" && text == "" {
			text = v
		}
	}
	return text
}
