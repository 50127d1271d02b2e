package format

import (
	"cmp"
	"context"
	_ "embed"
	"fmt"
	"html/template"
	"image/color"
	"image/png"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/internal/regular"
	"github.com/bnctl/bnctl/internal/style"
	"github.com/bnctl/bnctl/predict"
	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/tensor"
)

// Limits of a page: its number of inputs, the pixels of the longer side of a picture, and the number of
// classes in the summary.
const pageInputs, pictureSide, pageClasses = 500, 320, 30

// Files of a page, in addition to index.html: the folder of the pictures and masks that it shows, and the
// file of all predictions with all digits.
const pictures, answersFile = "pictures", "predictions.jsonl"

//go:embed page.html
var pageText string

var pageTemplate = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("page").Parse(pageText))
})

// page has the data for the HTML template.
type page struct {
	Style             template.CSS
	Title, Subtitle   string
	Inputs, Listed    int
	Files             string // name of the file with all predictions
	Heads             [2]string
	Items             []pageItem
	Summary           []pageClass
	SummaryOf, Footer string
	Bad               []string
}

// pageItem is an input with its prediction.
type pageItem struct {
	Name, Picture, Mask string
	Classes             []pageClass
}

// pageClass is a class with its share in percent, or with a description.
type pageClass struct {
	Label, Colour, Words string
	Percent              float64
	Bar                  bool
}

// pageWriter collects the contents of a page.
type pageWriter struct {
	*predict.Answers
	src    data.Source
	folder string
	page   page
	counts map[string]int // by label, the number of inputs that have it as their best
}

// page writes index.html with the first 500 inputs and their predictions, and the pictures that it shows. It
// also writes all predictions: a mask for each input, or predictions.jsonl.
func (f *Folder) page(ctx context.Context, p *predict.Predictor, src data.Source, r predict.Reading) (
	failed []error, err error) {
	a := f.Answers
	if p.Rank() > 0 && !givesPixels(a) { // rank 0 writes the page
		return p.All(ctx, src, r, nil)
	}
	if err := os.MkdirAll(filepath.Join(f.Path, pictures), 0o777); err != nil {
		return nil, err
	}
	dst := &pageWriter{Answers: a, src: src, folder: f.Path, counts: map[string]int{}, page: page{
		Style: template.CSS(style.CSS()), Title: "Predictions of " + a.Model.Architecture,
		Footer: "Written by bnctl. The page refers to no file outside its folder."}}
	if givesPixels(a) {
		failed, err = dst.masks(ctx, p, f.Whole, r)
	} else {
		err = regular.WriteFile(filepath.Join(f.Path, answersFile), 0o666, func(file io.Writer) (err error) {
			failed, err = All(ctx, p, src, r, &pageAnswers{dst, ctx, 0, f.Lines(file)})
			return err
		})
	}
	if err != nil || p.Rank() > 0 {
		return failed, err
	}
	return failed, dst.write(failed)
}

// givesPixels reports whether the model gives each pixel a class, in a single output.
func givesPixels(a *predict.Answers) bool {
	t := a.Type(a.Scores)
	return a.Raw && len(a.Computed()) == 1 && t.DType == tensor.F32 && len(t.Shape) == 3 && t.Shape[0] >= 2 &&
		t.Shape[0] <= data.MaskClasses
}

// masks writes the masks of all inputs, and shows the first of them over their pictures.
func (w *pageWriter) masks(ctx context.Context, p *predict.Predictor, output predict.Whole,
	r predict.Reading) (failed []error, err error) {
	dst := &files{w.folder, w.Name(output.Output), map[string]bool{"index": true}}
	w.page.Heads, w.page.Files = [2]string{"class", "share of the pixels"}, "The folder has the masks of all"
	w.page.SummaryOf = "Pixels of the masks, by class"
	var none classless
	failed, err = p.Scores(ctx, w.src, output, r, func(i int, scores tensor.Tensor) error {
		classes, err := predict.PixelClasses(dst.output, scores)
		if err == nil {
			err = dst.mask(w.src.Name(i), scores)
		}
		if err == nil {
			err = w.masked(ctx, p, output, i, classes)
		}
		return none.add(r, w.src.Name(i), err)
	})
	return append(failed, none...), err
}

// masked adds the mask of input i to the page.
func (w *pageWriter) masked(ctx context.Context, p *predict.Predictor, output predict.Whole, i int,
	classes []byte) error {
	var counts [256]int
	for _, k := range classes {
		counts[k]++
	}
	item := pageItem{Name: w.src.Name(i)}
	for k, n := range counts {
		if n == 0 {
			continue
		}
		c, percent := data.MaskPalette[k].(color.RGBA), 100*float64(n)/float64(len(classes))
		item.Classes = append(item.Classes, pageClass{Label: predict.Label(w.Model, k), Percent: percent, Bar: true,
			Colour: fmt.Sprintf("#%02x%02x%02x", c.R, c.G, c.B), Words: fmt.Sprintf("%.1f %%", percent)})
		w.counts[predict.Label(w.Model, k)] += n
	}
	byPercent(item.Classes)
	if w.page.Inputs++; len(w.page.Items) >= pageInputs {
		return nil
	}
	if w.src.Info().Pictures() {
		picture, err := p.Picture(ctx, w.src, output, i)
		if err != nil {
			return err
		}
		labels := make([]int32, len(classes))
		for i, k := range classes {
			labels[i] = int32(k)
		}
		if item.Picture, err = w.picture(picture, ""); err == nil {
			item.Mask, err = w.picture(data.Overlay(picture, labels), "-mask")
		}
		if err != nil {
			return err
		}
	}
	w.page.Items = append(w.page.Items, item)
	return nil
}

func byPercent(classes []pageClass) {
	slices.SortStableFunc(classes, func(a, b pageClass) int { return cmp.Compare(b.Percent, a.Percent) })
}

// picture writes a picture for the next item of the page, and returns its path.
func (w *pageWriter) picture(t tensor.Tensor, suffix string) (string, error) {
	name := fmt.Sprintf("%s/%04d%s.png", pictures, len(w.page.Items)+1, suffix)
	return name, regular.WriteFile(filepath.Join(w.folder, filepath.FromSlash(name)), 0o666,
		func(f io.Writer) error { return png.Encode(f, data.Thumbnail(t, pictureSide)) })
}

// pageAnswers is the Writer of a page for models that do not give each pixel a class.
type pageAnswers struct {
	*pageWriter
	ctx   context.Context
	next  int // number of the next sample
	lines Writer
}

// Write implements Writer.
func (w *pageAnswers) Write(input string, outs []tensor.Tensor) error {
	if err := w.lines.Write(input, outs); err != nil {
		return err
	}
	item := pageItem{Name: input}
	if err := w.fill(&item, outs); err != nil {
		return err
	}
	if w.page.Inputs++; len(w.page.Items) >= pageInputs {
		return nil
	}
	for ; w.next < w.src.Info().Len && w.src.Name(w.next) != input; w.next++ { // samples without an answer
	}
	if w.next < w.src.Info().Len && w.src.Info().Pictures() {
		t, err := w.src.Sample(w.ctx, w.next)
		if err == nil {
			item.Picture, err = w.picture(t, "")
		}
		if err != nil {
			return err
		}
	}
	w.next++
	w.page.Items = append(w.page.Items, item)
	return nil
}

// fill stores the predictions in an item.
func (w *pageAnswers) fill(item *pageItem, outs []tensor.Tensor) error {
	switch {
	case w.Raw:
		w.page.Heads = [2]string{"output", "values"}
		for _, k := range w.Chosen {
			item.Classes = append(item.Classes, pageClass{Label: w.Name(k), Words: Short("", outs[k])})
		}
		return nil
	case w.Numbers():
		w.page.Heads = [2]string{"number", "value"}
		values, err := w.Values(outs)
		for _, v := range values {
			item.Classes = append(item.Classes, pageClass{Label: v.Label, Words: fmt.Sprintf("%.6g", v.Value)})
		}
		return err
	}
	w.page.Heads, w.page.SummaryOf = [2]string{"class", "probability"}, "First answers, by class"
	best, err := w.Best(outs)
	for _, k := range best {
		item.Classes = append(item.Classes, pageClass{Label: k.Label, Percent: 100 * float64(k.P), Bar: true,
			Words: fmt.Sprintf("%.1f %%", 100*k.P)})
	}
	if len(best) > 0 {
		w.counts[best[0].Label]++
	}
	return err
}

// End implements Writer.
func (w *pageAnswers) End() error {
	w.page.Files = answersFile + " has all"
	return w.lines.End()
}

// write writes index.html.
func (w *pageWriter) write(failed []error) error {
	w.page.Listed = len(w.page.Items)
	w.page.Subtitle = problem.Plural(w.page.Inputs, "input") + " answered"
	if len(failed) > 0 {
		w.page.Subtitle += fmt.Sprintf(", %d not", len(failed))
	}
	for _, err := range failed[:min(len(failed), pageInputs)] {
		w.page.Bad = append(w.page.Bad, err.Error())
	}
	total := 0
	for _, n := range w.counts {
		total += n
	}
	for label, n := range w.counts {
		percent := 100 * float64(n) / float64(total)
		w.page.Summary = append(w.page.Summary, pageClass{Label: label, Percent: percent, Bar: true,
			Words: fmt.Sprintf("%.1f %%", percent)})
	}
	slices.SortFunc(w.page.Summary, func(a, b pageClass) int { return cmp.Compare(a.Label, b.Label) })
	byPercent(w.page.Summary)
	w.page.Summary = w.page.Summary[:min(len(w.page.Summary), pageClasses)]
	return regular.WriteFile(filepath.Join(w.folder, "index.html"), 0o666,
		func(f io.Writer) error { return pageTemplate().Execute(f, w.page) })
}
