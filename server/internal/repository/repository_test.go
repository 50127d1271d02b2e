package repository

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// lay writes files with these names into a new folder, and returns the folder.
func lay(t *testing.T, names ...string) string {
	t.Helper()
	folder := t.TempDir()
	for _, name := range names {
		path := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(name), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

func policy(t *testing.T, text string) Policy {
	t.Helper()
	p, err := ParsePolicy(text)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func told(files []File) string {
	var all []string
	for _, f := range files {
		all = append(all, fmt.Sprintf("%s:%d", f.Name, f.Version))
	}
	return strings.Join(all, " ")
}

func TestScan(t *testing.T) {
	folder := lay(t, "a/9/model.bnm", "a/10/model.bnm", "a/1/model.bnm", "a/1/notes.txt", "a/011/model.bnm",
		"a/0/model.bnm", "a/-3/model.bnm", "a/4/other.bnm", "a/5x/model.bnm", "b.bnm", "c.txt", ".d.bnm",
		".e/1/model.bnm", "f/1/model.bnm/nothing")
	for text, want := range map[string]string{
		"":            "a:10 b:1",
		"latest:1":    "a:10 b:1",
		"latest:2":    "a:10 a:9 b:1",
		"all":         "a:10 a:9 a:1 b:1",
		"1,9":         "a:9 a:1 b:1",
		"10":          "a:10",
		"latest:9999": "a:10 a:9 a:1 b:1",
	} {
		all, err := scan([]string{folder}, policy(t, text))
		if err != nil {
			t.Fatal(err)
		}
		if got := told(all.files); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
	all, err := scan([]string{filepath.Join(folder, "b.bnm"), filepath.Join(folder, "c.txt")}, Policy{})
	if err != nil || told(all.files) != "b:1 c:1" {
		t.Errorf("files: %v, %v", all, err)
	}
}

// TestTritonLayout checks that the layout of Triton's model repositories is served, alone and together with
// templates, as a folder of models and as the folder of one model. If a file is not served, the reason is
// reported with its name.
func TestTritonLayout(t *testing.T) {
	folder := lay(t, "a/1/model.onnx", "a/2/model.onnx", "a/config.pbtxt", "b.bnm", "c/1/model.plan",
		"d/3/model.bnm", "d/3/model.onnx", "e.onnx", "f/readme.txt", "g/01/model.onnx", "h/1/other.onnx",
		"i/1/model.savedmodel/saved_model.pb", "labels.txt")
	if err := os.Symlink("nowhere", filepath.Join(folder, "j.bnm")); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{"": "a:2 b:1 d:3", "a": "a:2", "d": "d:3"} {
		all, err := scan([]string{filepath.Join(folder, path)}, Policy{})
		if err != nil || told(all.files) != want {
			t.Errorf("%q: %v, %v, want %s", path, all, err, want)
		}
	}
	of, err := scan([]string{filepath.Join(folder, "c")}, Policy{})
	if err != nil || len(of.files) > 0 || len(of.skipped) != 1 ||
		!strings.Contains(of.skipped[0], "none of model.bnm") {
		t.Errorf("c: %v, %v", of, err)
	}
	all, err := scan([]string{folder}, policy(t, "all"))
	if err != nil || told(all.files) != "a:2 a:1 b:1 d:3" || filepath.Base(all.files[3].Path) != "model.bnm" {
		t.Errorf("all: %v, %v", all, err)
	}
	text := strings.ReplaceAll(strings.Join(all.skipped, "\n"), folder+"/", "")
	for _, want := range []string{"a/config.pbtxt is not read",
		"c/1/model.plan is skipped: it is none of model.bnm, model.onnx",
		"c is skipped: it has no version", "d/3/model.onnx is skipped: d/3/model.bnm is served",
		"e.onnx is skipped: a folder holds NAME.bnm, or NAME/VERSION/model.onnx", "f is skipped: it has no version",
		"g/01 is skipped: a version is", "h/1 is skipped: there is no model.bnm or model.onnx in it",
		"i/1/model.savedmodel is skipped", "j.bnm is skipped"} {
		if !strings.Contains(text, want) {
			t.Errorf("not said: %s", want)
		}
	}
	if strings.Contains(text, "labels.txt") {
		t.Errorf("%s", text)
	}
}

func TestScanRefuses(t *testing.T) {
	folder := lay(t, "a/1/model.bnm", "a.bnm")
	for path, want := range map[string]string{folder: "both version 1 of the model a", folder + "/b": "no such file"} {
		if _, err := scan([]string{path}, Policy{every: true}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", path, err, want)
		}
	}
	for _, text := range []string{"latest", "latest:", "latest:0", "0", "1,", "01", "-1", "one", "1 ,2", "latest:-1"} {
		if _, err := ParsePolicy(text); err == nil {
			t.Errorf("%q is taken", text)
		}
	}
}

// TestWatch checks that a file counts as unchanged if its size and time are the same as in the previous scan.
func TestWatch(t *testing.T) {
	folder := lay(t, "a.bnm")
	w, path := NewWatch([]string{folder}, Policy{}), filepath.Join(folder, "a.bnm")
	look := func() bool {
		t.Helper()
		files, still, err := w.Scan()
		if err != nil || len(files) != 1 {
			t.Fatalf("%v, %v", files, err)
		}
		return still[0]
	}
	if look() || !look() {
		t.Error("not still at the second look")
	}
	if err := os.Chtimes(path, time.Time{}, time.Unix(1, 0)); err != nil {
		t.Fatal(err)
	}
	if look() || !look() {
		t.Error("another time")
	}
	if err := os.WriteFile(path, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(path, time.Time{}, time.Unix(1, 0)); err != nil {
		t.Fatal(err)
	}
	if look() || !look() {
		t.Error("another size")
	}
}
