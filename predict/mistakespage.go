package predict

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"html/template"
	"image"
	"image/png"
	"io"
	"os"
	"path/filepath"

	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/internal/regular"
	"github.com/bnctl/bnctl/internal/style"
	"github.com/bnctl/bnctl/models"
)

// pageMistakes bounds the mistakes of a page, and pageSide their pictures in pixels.
const pageMistakes, pageSide = 500, 256

// WriteMistakes writes the pictures of samples that were answered wrongly into a folder, which it makes,
// the worst first: NNNN.png, scaled to 256 pixels, of at most 500; index.html, to look at them; and
// mistakes.csv, of all of them, as WriteCSV writes it. The worst is, where a sample has one class, the one
// with the most probable wrong class; where it has several labels, that with the largest loss, if one of
// them is wrong; where it has numbers, that with the largest squared error in units of their deviations;
// of masks, that with the largest share of wrong pixels (with Details.Masks; 100 pictures, labels on the
// left, answers on the right). src has the samples, and m is the model that was evaluated on them. It is
// an error if the samples are no pictures, if the folder exists and is not empty, or if something cannot
// be read or written.
func (d *Details) WriteMistakes(ctx context.Context, folder string, m *models.Model, src data.Source) error {
	info := src.Info()
	if !info.Pictures() {
		return errors.New("there is no page of mistakes for samples that are no pictures")
	}
	if there, err := os.ReadDir(folder); err == nil && len(there) > 0 {
		return fmt.Errorf("folder %s is not empty", folder)
	}
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return err
	}
	page := mistakesPage{Style: template.CSS(style.CSS()), Model: m.Architecture, Data: info.Kind,
		Samples: info.Len}
	wrong := d.worst(m, src, &page)
	if err := page.writePictures(ctx, folder, src); err != nil {
		return err
	}
	write := func(name string, to func(io.Writer) error) error {
		return regular.WriteFile(filepath.Join(folder, name), 0o666, to)
	}
	return errors.Join(
		write("index.html", func(w io.Writer) error { return mistakesTemplate.Execute(w, page) }),
		write("mistakes.csv", func(w io.Writer) error { return wrong.WriteCSV(w, m, src) }))
}

// worst returns the answers that are wrong, the worst first, and puts the first into page.
func (d *Details) worst(m *models.Model, src data.Source, page *mistakesPage) *Details {
	switch info := src.Info(); {
	case info.Masks:
		return d.worstMasks(m, src, page)
	case info.Targets != nil:
		return d.worstNumbers(m, page)
	case info.MultiLabel:
		return d.worstLabels(m, page)
	}
	page.Order = "the surest first"
	wrong := &Details{answers: d.mistakes()}
	for _, a := range wrong.answers[:min(len(wrong.answers), pageMistakes)] {
		page.Mistakes = append(page.Mistakes, mistake{sample: a.sample, Rows: []mistakeRow{
			{"said", Label(m, a.predicted), percent(a.probability), true},
			{"is", Label(m, a.label), percent(a.ofLabel), false}}})
	}
	page.Wrong = len(wrong.answers)
	return wrong
}

func percent(p float64) string { return fmt.Sprintf("%.1f %%", 100*p) }

// writePictures writes the pictures of a page.
func (p *mistakesPage) writePictures(ctx context.Context, folder string, src data.Source) error {
	for i := range p.Mistakes {
		x := &p.Mistakes[i]
		x.File, x.Sample = fmt.Sprintf("%04d.png", i+1), src.Name(x.sample)
		draw := x.draw
		if draw == nil {
			draw = func(ctx context.Context) (*image.RGBA, error) {
				return data.Grid(ctx, src, []int{x.sample}, 1, pageSide)
			}
		}
		picture, err := draw(ctx)
		if err != nil {
			return err
		}
		err = regular.WriteFile(filepath.Join(folder, x.File), 0o666, func(w io.Writer) error {
			return png.Encode(w, picture)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// mistakesPage is what the page shows.
type mistakesPage struct {
	Style          template.CSS
	Model, Data    string
	Samples, Wrong int
	Order          string // "the surest first"
	Mistakes       []mistake
}

// mistake is a sample on the page.
type mistake struct {
	File, Sample string
	Rows         []mistakeRow
	sample       int
	draw         func(context.Context) (*image.RGBA, error) // nil: the sample
}

// mistakeRow is a line below a picture: what, which label or number, and how probable.
type mistakeRow struct {
	Term, Value, Number string
	Wrong               bool
}

//go:embed mistakes.html
var mistakesHTML string

var mistakesTemplate = template.Must(template.New("mistakes").Parse(mistakesHTML))
