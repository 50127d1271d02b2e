package predict

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"html/template"
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

// WriteMistakes writes the pictures of samples that were answered wrongly into a folder,
// which it makes, the one with the most probable wrong class first: NNNN.png, scaled to 256
// pixels, of at most 500; index.html, to look at them; and mistakes.csv, of all of them, as
// WriteCSV writes it. src has the samples, and m is the model that was evaluated on them. It
// is an error if the samples are no pictures with a class each, if the folder exists and is
// not empty, or if something cannot be read or written.
func (d *Details) WriteMistakes(ctx context.Context, folder string, m *models.Model, src data.Source) error {
	if i := src.Info(); !i.Pictures() || i.Masks || i.MultiLabel || i.Targets != nil {
		return errors.New("there is no page of mistakes for samples that are no pictures with a class each")
	}
	if there, err := os.ReadDir(folder); err == nil && len(there) > 0 {
		return fmt.Errorf("folder %s is not empty", folder)
	}
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return err
	}
	wrong := &Details{answers: d.mistakes()}
	page := mistakesPage{Style: template.CSS(style.CSS()), Model: m.Architecture, Data: src.Info().Kind,
		Samples: len(d.answers), Wrong: len(wrong.answers)}
	if err := wrong.pictures(ctx, folder, m, src, &page); err != nil {
		return err
	}
	write := func(name string, to func(io.Writer) error) error {
		return regular.WriteFile(filepath.Join(folder, name), 0o666, to)
	}
	return errors.Join(
		write("index.html", func(w io.Writer) error { return mistakesTemplate.Execute(w, page) }),
		write("mistakes.csv", func(w io.Writer) error { return wrong.WriteCSV(w, m, src) }))
}

// pictures writes the pictures of a page, and adds them to it.
func (d *Details) pictures(ctx context.Context, folder string, m *models.Model, src data.Source,
	page *mistakesPage) error {
	for i, a := range d.answers[:min(len(d.answers), pageMistakes)] {
		name := fmt.Sprintf("%04d.png", i+1)
		picture, err := data.Grid(ctx, src, []int{a.sample}, 1, pageSide)
		if err != nil {
			return err
		}
		err = regular.WriteFile(filepath.Join(folder, name), 0o666, func(w io.Writer) error {
			return png.Encode(w, picture)
		})
		if err != nil {
			return err
		}
		page.Mistakes = append(page.Mistakes, mistake{name, src.Name(a.sample), Label(m, a.label),
			Label(m, a.predicted), 100 * a.probability, 100 * a.ofLabel})
	}
	return nil
}

// mistakesPage is what the page shows.
type mistakesPage struct {
	Style          template.CSS
	Model, Data    string
	Samples, Wrong int
	Mistakes       []mistake
}

type mistake struct {
	File, Sample, Label, Predicted string
	Percent, OfLabel               float64
}

//go:embed mistakes.html
var mistakesHTML string

var mistakesTemplate = template.Must(template.New("mistakes").Parse(mistakesHTML))
