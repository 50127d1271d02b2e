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
	"github.com/bnctl/bnctl/objects/average"
)

// pageMistakes bounds the mistakes of a page, and pageSide their pictures in pixels.
const pageMistakes, pageSide = 500, 256

// WriteMistakes writes the samples that were answered wrongly into a folder, which it creates. It writes at
// most 500 pictures NNNN.png, scaled to 256 pixels, in the order of Mistakes, index.html to look at them,
// and mistakes.csv with all wrong samples in the form of WriteCSV. It is an error if the samples are not
// pictures, if the folder exists and is not empty, or if something cannot be read or written.
func (d *Details) WriteMistakes(ctx context.Context, folder string, m *models.Model, src data.Source) error {
	info := src.Info()
	if !info.Pictures() {
		return errors.New("a page of mistakes needs samples that are pictures")
	}
	if there, err := os.ReadDir(folder); err == nil && len(there) > 0 {
		return fmt.Errorf("folder %s is not empty", folder)
	}
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return err
	}
	page := mistakesPage{Style: template.CSS(style.CSS()), Model: m.Architecture, Data: info.Kind,
		Samples: info.Len, Mistakes: Mistakes{limit: pageMistakes}}
	if d.Boxes != nil {
		page.Curves = PrecisionRecall(average.VOC(d.Boxes.Set, d.Boxes.Found))
	}
	wrong := d.worst(m, src, &page.Mistakes)
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

// writePictures writes the pictures of a page.
func (p *mistakesPage) writePictures(ctx context.Context, folder string, src data.Source) error {
	for i := range p.First {
		x := &p.First[i]
		item := pictured{Rows: x.Rows, File: fmt.Sprintf("%04d.png", i+1), Name: src.Name(x.Sample)}
		picture, err := x.Draw(ctx, src, pageSide)
		if err != nil {
			return err
		}
		err = regular.WriteFile(filepath.Join(folder, item.File), 0o666, func(w io.Writer) error {
			return png.Encode(w, picture)
		})
		if err != nil {
			return err
		}
		p.Pictures = append(p.Pictures, item)
	}
	return nil
}

// mistakesPage is the data of the page.
type mistakesPage struct {
	Style       template.CSS
	Model, Data string
	Samples     int
	Mistakes
	Pictures []pictured
	Curves   template.HTML // curves of precision by recall, for boxes
}

// pictured is a mistake with the name of its picture, and of its sample.
type pictured struct {
	File, Name string
	Rows       []MistakeRow
}

//go:embed mistakes.html
var mistakesHTML string

var mistakesTemplate = template.Must(template.New("mistakes").Parse(mistakesHTML))
