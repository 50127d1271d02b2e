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

// Log writes the page of a run into the folder of its logs, where its events are, when it ends: whether
// it has come to its last step or was stopped.
type Log struct {
	folder     string
	note       func(format string, args ...any)
	board      *train.Board     // the event files; nil: they are not open
	recipe     string           // sum of it; "": the run has not begun
	answers    *predict.Details // of the evaluation that is made
	last, best *detailed
	ofBest     bool // the template has the weights of the best epoch
}

// detailed is an evaluation with its answers.
type detailed struct {
	train.Evaluated
	answers *predict.Details
}

// NewLog returns the log of a run that writes its events to a folder; "": no folder. note is called with
// messages for the user.
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

// mostMistakes is how many mistakes a page shows.
const mostMistakes = 24

// Observe returns observers of the answers of the next evaluation, for
// train.Config.Observe.
func (l *Log) Observe() evaluation.Observers {
	l.answers = &predict.Details{Masks: mostMistakes}
	return l.answers.Observers()
}

// Evaluated stores an evaluation, for train.Config.Evaluated.
func (l *Log) Evaluated(e train.Evaluated) {
	if l.last = (&detailed{e, l.answers}); e.Best {
		l.best = l.last
	}
}

// Write writes evaluation.json, of the epoch that the template is of, and the page with its drawings. Data
// is still open, and all events are in their file. A run that has not begun has no page.
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
		return nil // no evaluation: the earlier file, if it belongs to this run, is still valid
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

// pictureSide is the largest side of the picture of a mistake, in pixels.
const pictureSide = 128

// pictureOf draws a mistake as PNG. It returns nil if the sample is not a picture or is no
// longer readable.
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

// Page returns the path of the page that Write has written; "" if the run has not begun.
func (l *Log) Page() string {
	log, number, _, err := newestLog(l.folder)
	if err != nil || log == "" || l.recipe == "" {
		return ""
	}
	return filepath.Join(l.folder, numbered(pageFile, number))
}
