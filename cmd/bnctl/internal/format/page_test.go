package format

import (
	"bytes"
	"context"
	"fmt"
	"image/png"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/fleet"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/predict"
)

// pageOf writes the page of a new model for a source, and returns it with its folder.
func pageOf(t *testing.T, architecture, source string, label string) (page, folder string) {
	t.Helper()
	ctx := context.Background()
	src, err := data.Open(ctx, source, data.Options{Split: data.Test})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = src.Close() })
	m, err := models.Build(architecture, models.Options{Classes: len(src.Info().Classes)})
	if err == nil {
		err = models.Init(m, 1)
	}
	if err != nil {
		t.Fatal(err)
	}
	m.Labels, m.Preprocess.Known = append([]string{label}, src.Info().Classes[1:]...), true
	a, err := predict.NewAnswers(m, predict.AnswerOptions{Top: 3})
	if err != nil {
		t.Fatal(err)
	}
	p, err := predict.Open(ctx, m, predict.Options{Fleet: fleet.Options{Devices: "ref"}, Batch: 4})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Close() })
	f := &Folder{Format: pageFormat, Path: filepath.Join(t.TempDir(), "page"), Answers: a,
		Lines: func(to io.Writer) Writer { return JSON(a, func(v any) { fmt.Fprintln(to, v) }) }}
	if err := CheckFolder(pageFormat, a, f.Path); err != nil {
		t.Fatal(err)
	}
	if f.Whole.Fit, err = Fit(pageFormat, a, "", src.Info()); err != nil {
		t.Fatal(err)
	}
	bad, err := f.Write(ctx, p, src, predict.Reading{GoOn: true})
	if err != nil || len(bad) > 0 {
		t.Fatalf("%v, %v", bad, err)
	}
	b, err := os.ReadFile(filepath.Join(f.Path, "index.html"))
	if err != nil {
		t.Fatal(err)
	}
	return string(b), f.Path
}

// A page has a picture and bars for each input. Names in it are text, even if they contain markup.
func TestPage(t *testing.T) {
	page, folder := pageOf(t, "lenet-bn", "glyphs:6", "<img src=x>")
	for _, want := range []string{"6 inputs answered", "predictions.jsonl has all", `src="pictures/0006.png"`,
		"--series0", "class and probability"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if strings.Contains(page, "<img src=x>") || strings.Contains(page, "://") {
		t.Error("a label is an element of the page, or something outside is referred to")
	}
	lines, err := os.ReadFile(filepath.Join(folder, answersFile))
	if err != nil || bytes.Count(lines, []byte("\n")) != 6 {
		t.Errorf("%d lines: %v", bytes.Count(lines, []byte("\n")), err)
	}
	b, err := os.ReadFile(filepath.Join(folder, "pictures", "0001.png"))
	if err != nil {
		t.Fatal(err)
	}
	if m, err := png.Decode(bytes.NewReader(b)); err != nil || m.Bounds().Dx() != 8*28 {
		t.Errorf("the picture: %v", err)
	}
}

// If a model gives each pixel a class, the page shows masks over pictures, and the folder has the
// masks.
func TestPageOfMasks(t *testing.T) {
	page, folder := pageOf(t, "unet-bn", "shapes:2", "<b>ground")
	for _, want := range []string{"2 inputs answered", "The folder has the masks of all", "pictures/0002-mask.png",
		"Pixels of the masks, by class"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if strings.Contains(page, "<b>ground") {
		t.Error("a label is an element of the page")
	}
	masks, err := filepath.Glob(filepath.Join(folder, "*.png"))
	if err != nil || len(masks) != 2 {
		t.Errorf("masks %v: %v", masks, err)
	}
}
