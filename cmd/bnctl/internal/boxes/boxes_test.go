package boxes

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"
)

// run runs a command in a program that has the flags of data info and data show.
func run(t *testing.T, args ...string) (results []string, events string, err error) {
	t.Helper()
	output := func(*cli.Context) Output {
		return Output{
			Result: func(format string, args ...any) { results = append(results, fmt.Sprintf(format, args...)) },
			Event: func(name string, v any) {
				b, err := json.Marshal(v)
				if err != nil {
					t.Fatal(err)
				}
				events += name + " " + string(b)
			}}
	}
	action := func(do func(*cli.Context, Output) (bool, error)) cli.ActionFunc {
		return func(c *cli.Context) error {
			done, err := do(c, output(c))
			if !done {
				return fmt.Errorf("not a set with boxes")
			}
			return err
		}
	}
	app := &cli.App{Commands: []*cli.Command{EvalCommand(output),
		{Name: "info", Action: action(Info), Flags: []cli.Flag{&cli.StringFlag{Name: "skip-bad"}}},
		{Name: "show", Action: action(Show), Flags: []cli.Flag{&cli.StringFlag{Name: "output"},
			&cli.IntFlag{Name: "count"}, &cli.IntFlag{Name: "columns"}, &cli.IntFlag{Name: "side"}}}}}
	err = app.RunContext(t.Context(), append([]string{"bnctl"}, args...))
	return results, events, err
}

// set writes two files: a document with a picture and two boxes, and detections that find one of the boxes.
func set(t *testing.T) (spec, results string) {
	folder := t.TempDir()
	var picture bytes.Buffer
	if err := png.Encode(&picture, image.NewGray(image.Rect(0, 0, 100, 80))); err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{"a.png": picture.String(),
		"boxes.json": `{"images": [{"id": 7, "file_name": "a.png", "width": 100, "height": 80}],
"categories": [{"id": 3, "name": "cell"}], "annotations": [
{"id": 1, "image_id": 7, "category_id": 3, "bbox": [0, 0, 40, 40]},
{"id": 2, "image_id": 7, "category_id": 3, "bbox": [60, 0, 50, 25]}]}`,
		"results.json": `[{"image_id": "a", "category_id": 3, "bbox": [0, 0, 40, 40], "score": 0.5}]`} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return "coco:" + filepath.Join(folder, "boxes.json"), filepath.Join(folder, "results.json")
}

func TestCommands(t *testing.T) {
	spec, results := set(t)
	for _, c := range []struct {
		args        []string
		want, event string
	}{
		{[]string{"info", spec}, "class    cell: 2 boxes in 1 picture", `"boxes_outside":1`},
		{[]string{"eval", spec, results}, "VOC      0.5000  of 11 points 0.5455", `"ar100":0.5`},
		{[]string{"eval", spec, results}, "found    cell: 1 as cell, 1 missed", `"counts":[[1,1],[0,0]]`},
		{[]string{"show", "--count", "1", "--columns", "1", "--side", "50", "--output", results + ".png", spec},
			"with 1 picture", `"samples":1`},
	} {
		lines, events, err := run(t, c.args...)
		if text := strings.Join(lines, "\n"); err != nil || !strings.Contains(text, c.want) ||
			!strings.Contains(events, c.event) {
			t.Errorf("%v: %v, %s, %s; want %s and %s", c.args, err, text, events, c.want, c.event)
		}
	}
	b, err := os.ReadFile(results + ".png")
	if err != nil {
		t.Fatal(err)
	}
	if p, err := png.DecodeConfig(bytes.NewReader(b)); err != nil || p.Width != 54 {
		t.Errorf("%+v, %v", p, err)
	}
}

func TestMisuse(t *testing.T) {
	spec, results := set(t)
	for _, c := range []struct{ args, want string }{
		{"info --skip-bad 3 " + spec, "skip-bad 3: a set with boxes has no such option"},
		{"info folder:x", "not a set with boxes"},
		{"eval " + spec, "data eval needs SRC and RESULTS"},
		{"eval " + spec + "@val " + results, "none of 1 picture is in val"},
		{"eval " + spec + " " + strings.TrimPrefix(spec, "coco:"), "these are not COCO results"},
	} {
		if _, _, err := run(t, strings.Fields(c.args)...); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", c.args, err, c.want)
		}
	}
}
