package predict

import (
	"cmp"
	"context"
	"encoding/csv"
	"fmt"
	"html/template"
	"image"
	"io"
	"slices"
	"strconv"

	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/internal/chart"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/models/fit"
	"github.com/bnctl/bnctl/objects"
	"github.com/bnctl/bnctl/objects/average"
	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/tensor"
)

// Detected has the boxes that a detector found in a set. The pictures of the set are the samples of the
// evaluation, in their order.
type Detected struct {
	Set     *objects.Set
	Found   []average.Detection
	OfInput bool // boxes are in pixels of the input, not of the pictures
}

// judge returns the pictures with faults, those with the most faults first. Among pictures with equal
// numbers of faults, the picture with the highest score of a wrong detection comes first.
func (d *Detected) judge() []average.Judged {
	all := average.Judge(d.Set, d.Found, average.ConfusedScore, average.ConfusedOverlap)
	all = slices.DeleteFunc(all, func(j average.Judged) bool { return d.faults(&j) == 0 })
	slices.SortStableFunc(all, func(a, b average.Judged) int {
		if c := cmp.Compare(d.faults(&b), d.faults(&a)); c != 0 {
			return c
		}
		return cmp.Compare(d.surest(&b), d.surest(&a))
	})
	return all
}

func (d *Detected) faults(j *average.Judged) int {
	missed, invented, confused := j.Faults(&d.Set.Pictures[j.Picture])
	return missed + invented + confused
}

// surest returns the highest score of a wrong detection; 0 without one.
func (d *Detected) surest(j *average.Judged) float64 {
	for i, f := range j.Detections {
		if o := j.Objects[i]; o == -1 || o >= 0 && d.Set.Pictures[j.Picture].Objects[o].Class != f.Class {
			return f.Score
		}
	}
	return 0
}

// worstBoxes implements worst for boxes.
func (d *Details) worstBoxes(m *models.Model, src data.Source, x *Mistakes) *Details {
	all := d.Boxes.judge()
	x.Order = fmt.Sprintf("the most faults first, with detections of at least %g, annotations on the left and "+
		"detections on the right", average.ConfusedScore)
	x.Wrong, x.Key, x.Pairs = len(all), d.Boxes.key(), true
	for _, j := range all[:min(len(all), x.limit)] {
		missed, invented, confused := j.Faults(&d.Boxes.Set.Pictures[j.Picture])
		right := -confused // crowds and difficult objects are not counted
		for _, o := range j.Objects {
			if o >= 0 {
				right++
			}
		}
		var rows []MistakeRow
		for _, r := range []struct {
			term string
			n    int
		}{{"missed", missed}, {"not annotated", invented}, {"of another class", confused}} {
			if r.n > 0 {
				rows = append(rows, MistakeRow{r.term, problem.Plural(r.n, "box"), "", true})
			}
		}
		rows = append(rows, MistakeRow{"found", strconv.Itoa(right), "of " + strconv.Itoa(right+missed+confused),
			false})
		x.First = append(x.First, Mistake{Sample: j.Picture, Rows: rows, draw: d.Boxes.drawn(m, src, j)})
	}
	return &Details{Boxes: d.Boxes, judged: all}
}

// drawn returns a function that draws annotations and detections over the picture.
func (d *Detected) drawn(m *models.Model, src data.Source, j average.Judged) func(context.Context, int) (
	*image.RGBA, error) {
	return func(ctx context.Context, side int) (*image.RGBA, error) {
		picture, err := src.Sample(ctx, j.Picture)
		if err != nil {
			return nil, err
		}
		restored := func(b objects.Box) objects.Box { return b }
		if d.OfInput {
			frame := fit.Transform(m, src.Info()).Frame(picture.Shape[0], picture.Shape[1])
			restored = func(b objects.Box) objects.Box {
				c := frame.Undo([4]float32{float32(b.X1), float32(b.Y1), float32(b.X2), float32(b.Y2)})
				return objects.Box{X1: c[0], Y1: c[1], X2: c[2], Y2: c[3]}
			}
		}
		small := data.Thumbnail(picture, side)
		scale := float64(small.Rect.Dx()) / float64(picture.Shape[1])
		pixels := tensor.New(tensor.U8, small.Rect.Dy(), small.Rect.Dx(), 3)
		for i := range small.Rect.Dx() * small.Rect.Dy() {
			copy(pixels.Bytes[3*i:3*i+3], small.Pix[4*i:4*i+3])
		}
		var truth, found []objects.Outline
		for _, o := range d.Set.Pictures[j.Picture].Objects {
			truth = append(truth, objects.Outline{Box: restored(o.Box).Scale(scale), Class: o.Class})
		}
		for _, f := range j.Detections {
			found = append(found, objects.Outline{Box: restored(f.Box).Scale(scale), Class: f.Class})
		}
		return pair(objects.Draw(pixels, truth), objects.Draw(pixels, found)), nil
	}
}

// pair returns a picture with two pictures of the same size side by side.
func pair(left, right *image.RGBA) *image.RGBA {
	const gap = 4
	w, h := left.Rect.Dx(), left.Rect.Dy()
	out := image.NewRGBA(image.Rect(0, 0, 2*w+gap, h))
	for y := range h {
		copy(out.Pix[y*out.Stride:], left.Pix[y*left.Stride:y*left.Stride+4*w])
		copy(out.Pix[y*out.Stride+4*(w+gap):], right.Pix[y*right.Stride:y*right.Stride+4*w])
	}
	return out
}

// key returns the classes with their colours in pictures.
func (d *Detected) key() (key []MaskClass) {
	for c, name := range d.Set.Classes {
		k := objects.ColourOf(c)
		key = append(key, MaskClass{name, fmt.Sprintf("#%02x%02x%02x", k.R, k.G, k.B)})
	}
	return key
}

// PrecisionRecall returns the drawing of the precision-recall curves of classes with objects, for a page. If
// there are more than six classes, it draws the six with the most objects.
func PrecisionRecall(v *average.VOCFigures) template.HTML {
	const most = 6
	classes := slices.DeleteFunc(slices.Clone(v.Classes), func(c average.VOCClass) bool {
		return len(c.Recalls) == 0
	})
	slices.SortStableFunc(classes, func(a, b average.VOCClass) int { return cmp.Compare(b.Objects, a.Objects) })
	c := chart.Chart{Title: "Precision by recall", X: "recall", Y: "precision", Percent: true, Low: 0, High: 1}
	for i, class := range classes[:min(len(classes), most)] {
		k := chart.Curve{Name: class.Name, Colour: i}
		for _, p := range class.Recalls {
			k.X, k.Y = append(k.X, p.Recall), append(k.Y, p.Precision)
		}
		c.Curves = append(c.Curves, k)
	}
	if c.Empty() {
		return ""
	}
	return chart.PageOf(&c)
}

// writeBoxes implements WriteCSV for boxes: a line for each object and each detection. An object without a
// detection has no predicted class, and a detection without an object has no label.
func (d *Details) writeBoxes(w io.Writer, m *models.Model, src data.Source) error {
	judged := d.judged
	if judged == nil {
		judged = average.Judge(d.Boxes.Set, d.Boxes.Found, average.ConfusedScore, average.ConfusedOverlap)
	}
	lines := [][]string{{"sample", "label", "predicted", "score", "x1", "y1", "x2", "y2"}}
	line := func(sample int, label, predicted, score string, b objects.Box) {
		row := []string{src.Name(sample), label, predicted, score}
		for _, v := range []float64{b.X1, b.Y1, b.X2, b.Y2} {
			row = append(row, strconv.FormatFloat(v, 'f', -1, 32))
		}
		lines = append(lines, row)
	}
	classes := d.Boxes.Set.Classes
	for _, j := range judged {
		truth := d.Boxes.Set.Pictures[j.Picture].Objects
		for i, f := range j.Detections {
			label := ""
			if j.Objects[i] == average.Ignored {
				continue
			}
			if j.Objects[i] >= 0 {
				label = classes[truth[j.Objects[i]].Class]
			}
			line(j.Picture, label, classes[f.Class], strconv.FormatFloat(f.Score, 'g', 6, 64), f.Box)
		}
		for _, g := range j.Missed {
			line(j.Picture, classes[truth[g].Class], "", "", truth[g].Box)
		}
	}
	return csv.NewWriter(w).WriteAll(lines)
}
