package report

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"image/png"
	"io"
	"path/filepath"

	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/evaluation"
	"github.com/bnctl/bnctl/internal/regular"
	"github.com/bnctl/bnctl/predict"
	"github.com/bnctl/bnctl/recipe"
	"github.com/bnctl/bnctl/train"
)

// Log writes the page about a run into the folder of its logs. It does so when the run ends, by itself or
// because it is stopped.
type Log struct {
	folder     string
	note       func(format string, args ...any)
	board      *train.Board     // the event files; nil if they are not open
	recipe     string           // SHA-256 of the recipe; "" before the run begins
	answers    *predict.Details // predictions of the evaluation in progress
	last, best *detailed
	ofBest     bool // the template has the weights of the best epoch
}

// detailed is an evaluation together with its predictions.
type detailed struct {
	train.Evaluated
	answers *predict.Details
}

// NewLog returns the log of a run. The run writes its events to the folder, or to no folder if it is "". note
// is called with messages for the user.
func NewLog(folder string, note func(format string, args ...any)) *Log {
	return &Log{folder: folder, note: note}
}

// Show handles an event.
func (l *Log) Show(e train.Event) {
	switch e := e.(type) {
	case train.Started:
		if b, err := json.Marshal(e.Recipe); err == nil {
			l.recipe = sumOf(b)
		}
	case train.Finished:
		l.ofBest = e.OfBest
	}
}

// sumOf returns the SHA-256 of a recipe, which identifies it.
func sumOf(recipe []byte) string {
	sum := sha256.Sum256(recipe)
	return hex.EncodeToString(sum[:])
}

// mostMistakes is the maximum number of mistakes on a page.
const mostMistakes = 24

// Observe returns observers for train.Config.Observe, which receive the predictions of the next evaluation.
func (l *Log) Observe() evaluation.Observers {
	l.answers = &predict.Details{Masks: mostMistakes}
	return l.answers.Observers()
}

// Evaluated stores an evaluation. It is the function for train.Config.Evaluated.
func (l *Log) Evaluated(e train.Evaluated) {
	if l.last = (&detailed{e, l.answers}); e.Best {
		l.best = l.last
	}
}

// Write writes evaluation.json for the epoch of which the template has the weights, and the page with its
// drawings. It must be called while the data is open, after all events have been written to their file. If
// the run has not begun, it writes nothing.
func (l *Log) Write(ctx context.Context) error {
	if l.recipe == "" {
		return nil
	}
	log, number, _, err := newestLog(l.folder)
	if log == "" || err != nil {
		return err
	}
	if err := l.writeEvaluation(ctx, filepath.Join(l.folder, numbered(evaluationFile, number))); err != nil {
		return err
	}
	_, _, err = Write("", l.folder)
	return err
}

func (l *Log) writeEvaluation(ctx context.Context, path string) error {
	e := l.last
	if l.ofBest && l.best != nil {
		e = l.best
	}
	if e == nil {
		return nil // the earlier file stays valid if it is of this run
	}
	out := summarise(e.Evaluation, func(class int) string { return predict.Label(e.Model, class) })
	info := e.Source.Info()
	out.Epoch, out.Recipe = e.Epoch, l.recipe
	out.Data = recipe.Data{Kind: info.Kind, Split: string(info.Split), Samples: info.Len}.InWords()
	e.answers.Boxes = detectedOf(e.Evaluation)
	wrong := e.answers.Mistakes(e.Model, e.Source, mostMistakes)
	out.Order, out.Wrong, out.Key = wrong.Order, wrong.Wrong, wrong.Key
	for i := range wrong.First {
		m := &wrong.First[i]
		out.Mistakes = append(out.Mistakes, Mistake{e.Source.Name(m.Sample), m.Rows, pictureOf(ctx, e.Source, m)})
	}
	b, err := json.Marshal(out)
	if err != nil {
		return err
	}
	return writeBytes(path, b)
}

// pictureSide is the maximum side of the picture of a mistake, in pixels.
const pictureSide = 128

// pictureOf returns the picture of a wrongly predicted sample as PNG. It returns nil if the sample is not a
// picture, or cannot be read any more.
func pictureOf(ctx context.Context, src data.Source, m *predict.Mistake) []byte {
	if !src.Info().Pictures() {
		return nil
	}
	drawn, err := m.Draw(ctx, src, pictureSide)
	if err != nil {
		return nil
	}
	var b bytes.Buffer
	if png.Encode(&b, drawn) != nil {
		return nil
	}
	return b.Bytes()
}

func writeBytes(path string, b []byte) error {
	return regular.WriteFile(path, 0o666, func(w io.Writer) error {
		_, err := w.Write(b)
		return err
	})
}

// Page returns the path of the page that Write has written, or "" if the run has not begun.
func (l *Log) Page() string {
	log, number, _, err := newestLog(l.folder)
	if err != nil || log == "" || l.recipe == "" {
		return ""
	}
	return filepath.Join(l.folder, numbered(pageFile, number))
}
