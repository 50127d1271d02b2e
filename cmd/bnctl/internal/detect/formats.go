package detect

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"path"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/bnctl/bnctl/cmd/bnctl/internal/format"
	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/internal/legible"
	"github.com/bnctl/bnctl/internal/regular"
	"github.com/bnctl/bnctl/predict"
	"github.com/bnctl/bnctl/problem"
)

// toCSV makes w write CSV with a row for each box.
func (w *writer) toCSV(dst io.Writer) {
	out := csv.NewWriter(dst)
	_ = out.Write([]string{"input", "label", "index", "score", "x1", "y1", "x2", "y2"}) // see out.Error
	w.emit = func(p *prediction) error {
		for _, b := range p.Boxes {
			row := []string{p.Input, b.Label, fmt.Sprint(b.Index), fmt.Sprint(b.Score)}
			for _, v := range b.Corners {
				row = append(row, fmt.Sprint(v))
			}
			_ = out.Write(row)
		}
		return out.Error()
	}
	w.end = func() error {
		out.Flush()
		return out.Error()
	}
}

// table writes a line for each picture, and a line for each of its boxes.
func table(w io.Writer, p *prediction) error {
	text := legible.Sprintf("%s  %dx%d  %s\n", p.Input, p.Width, p.Height, problem.Plural(len(p.Boxes), "box"))
	for _, b := range p.Boxes {
		c := b.Corners
		text += legible.Sprintf("  %-12s %.4f  %.1f,%.1f - %.1f,%.1f\n", b.Label, b.Score, c[0], c[1], c[2], c[3])
	}
	_, err := io.WriteString(w, text)
	return err
}

// result is a detection in COCO's results format. Image is the name of the picture as a number, for example
// 139 for 000000000139.jpg, or if the name is not a number, the name without its extension.
type result struct {
	Image    any        `json:"image_id"`
	Category int        `json:"category_id"` // index of the class, from 0
	Name     string     `json:"category_name"`
	Box      [4]float64 `json:"bbox"` // x, y, width, height
	Score    float32    `json:"score"`
}

// toCOCO makes w write a list of detections in COCO's results format, with one on each line.
func (w *writer) toCOCO(dst io.Writer) {
	before := "[\n"
	w.emit = func(p *prediction) error {
		for _, b := range p.Boxes {
			c := b.Corners
			line, err := json.Marshal(result{imageID(p.Input), b.Index, b.Label,
				[4]float64{c[0], c[1], c[2] - c[0], c[3] - c[1]}, b.Score})
			if err == nil {
				_, err = fmt.Fprintf(dst, "%s%s", before, line)
			}
			if err != nil {
				return err
			}
			before = ",\n"
		}
		return nil
	}
	w.end = func() error {
		end := "\n]\n"
		if before == "[\n" {
			end = "[]\n"
		}
		_, err := io.WriteString(dst, end)
		return err
	}
}

func imageID(input string) any {
	name := stem(input)
	if n, err := strconv.ParseUint(name, 10, 53); err == nil {
		return n
	}
	return name
}

func stem(input string) string {
	name := path.Base(filepath.ToSlash(input))
	return strings.TrimSuffix(name, path.Ext(name))
}

// Labels returns a writer of text files in YOLO's format. For each picture it writes a file NAME.txt into a
// folder, with a line for each box: the class, the centre, width and height as fractions of the picture, and
// the score.
func (o Options) Labels(a *predict.Answers, folder string, src data.Source, note func(string, ...any)) (
	format.Writer, error) {
	w, err := o.open(a, yolo, src, note)
	if err != nil {
		return nil, err
	}
	w.emit = func(p *prediction) error {
		var text strings.Builder
		width, height := float64(p.Width), float64(p.Height)
		for _, b := range p.Boxes {
			c := b.Corners
			fmt.Fprintf(&text, "%d %.8g %.8g %.8g %.8g %.6g\n", b.Index, (c[0]+c[2])/2/width,
				(c[1]+c[3])/2/height, (c[2]-c[0])/width, (c[3]-c[1])/height, b.Score)
		}
		return regular.WriteFile(w.file(folder, p.Input, ".txt"), 0o666, func(dst io.Writer) error {
			_, err := io.WriteString(dst, text.String())
			return err
		})
	}
	return w, nil
}

// file returns the path of the file for an input. If several inputs have the same name, a number is added to
// the names of all but the first.
func (w *writer) file(folder, input, extension string) string {
	name := stem(input)
	key := name + extension
	if w.named[key]++; w.named[key] > 1 {
		name = fmt.Sprintf("%s-%d", name, w.named[key])
	}
	return filepath.Join(folder, name+extension)
}
