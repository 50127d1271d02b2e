package data

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"
)

// written writes files and pictures into a new folder. Each picture is one pixel. Its value is the number of
// the picture.
func written(t *testing.T, files map[string]string, pictures ...string) string {
	t.Helper()
	dir := t.TempDir()
	for i, name := range pictures {
		files[name] = fmt.Sprintf("P6 1 1 255\n%c%c%c", byte(i), byte(i), byte(i))
	}
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestDownloads: tables in the formats of Roboflow, Kaggle and others are read without changes, and the use
// of their columns is reported.
func TestDownloads(t *testing.T) {
	roboflow := map[string]string{"train/_classes.csv": "filename, cat, dog\na.ppm, 1, 0\nb.ppm, 0, 1\n",
		"valid/_classes.csv": "filename, cat, dog\nc.ppm, 0, 1\n", "README.roboflow.txt": "x"}
	kaggle := map[string]string{"train.csv": "id,breed\n1a,cat\n2b,dog\n", "sample_submission.csv": "id,cat,dog\n",
		"test.csv": "id\n3c\n"}
	for _, c := range []struct {
		name, spec, note string
		files            map[string]string
		pictures         []string
		labels           []int32
	}{
		{"Roboflow's", "csv:%s", "train/_classes.csv, valid/_classes.csv are read; path is column filename", roboflow,
			[]string{"train/a.ppm", "train/b.ppm", "valid/c.ppm"}, []int32{0, 1}},
		{"its val", "csv:%s@val", "valid/_classes.csv", roboflow,
			[]string{"train/a.ppm", "train/b.ppm", "valid/c.ppm"}, []int32{1}},
		{"Kaggle's", "csv:%s", "train.csv is read; path is column id, label is column breed", kaggle,
			[]string{"train/1a.ppm", "train/2b.ppm"}, []int32{0, 1}},
		{"folders", "folder:%s@val", "folders TRAIN, Validation are its parts train, val", map[string]string{},
			[]string{"Set/TRAIN/cat/1.ppm", "Set/TRAIN/dog/2.ppm", "Set/Validation/dog/3.ppm"}, []int32{1}},
		{"repeated rows", "csv:%s/t.csv", "1 row left out that name a picture again",
			map[string]string{"t.csv": "path,label\na.ppm,x\nb.ppm,y\na.ppm,x\n"}, []string{"a.ppm", "b.ppm"}, []int32{0, 1}},
	} {
		dir := written(t, c.files, c.pictures...)
		src, err := Open(context.Background(), fmt.Sprintf(c.spec, dir), Options{Split: Train})
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		var labels []int32
		for i := range src.Info().Len {
			l, err := src.Label(context.Background(), i)
			if err != nil {
				t.Fatal(err)
			}
			labels = append(labels, l...)
		}
		slices.Sort(labels)
		if text := strings.Join(src.Info().Notes(), "\n"); !strings.Contains(text, c.note) ||
			!slices.Equal(labels, c.labels) {
			t.Errorf("%s: labels %v, want %v; said %s", c.name, labels, c.labels, text)
		}
		src.Close()
	}
}

// TestBadTables: each of these tables is refused with an error that names the place and the fault.
func TestBadTables(t *testing.T) {
	wide := ""
	for _, u := range utf16.Encode([]rune("path,label\na.ppm,x\n")) {
		wide += string([]byte{byte(u), byte(u >> 8)})
	}
	const table = "path,label\na.ppm,x\nb.ppm,y\n"
	for text, want := range map[string]string{
		wide:                              "line 1 has a zero byte: the text may be UTF-16; save it as UTF-8",
		"\xff\xfe" + wide:                 "the text is UTF-16; save it as UTF-8",
		table + "c.ppm,gr\xfcn\n":         "line 4 is no UTF-8; save it as UTF-8",
		table + "none.ppm,x\n":            "member none.ppm: no such file",
		table + "a.ppm,y\n":               "a.ppm is x in line 2 and y in line 4; leave one of them",
		table + "\"a.ppm,x\n":             "line 4: ",
		table + "a\"b.ppm,x\n":            "line 4: ",
		table + "c.ppm\n":                 "line 4 has 1 column, the first line 2",
		table + "c.ppm,\n":                "line 4 has no label",
		"":                                "there is no row in it",
		"path,label\n":                    "there is a header and no row below it",
		"colour,size\nred,2\n":            "no column is called as those of a path are; there are colour, size",
		"path,label,split\na.ppm,x,Dev\n": `line 2: "Dev" is no split`,
		"path,label,split\na.ppm,x,train\na.ppm,x,val\n": "a.ppm is in part train in line 2 and in part val in line 3",
		"path,label,split\na.ppm,x,train\nb.ppm,y,val\n": "val/ has a class that train/ lacks: y",
	} {
		dir := written(t, map[string]string{"t.csv": text}, "a.ppm", "b.ppm", "c.ppm")
		src, err := Open(context.Background(), "csv:"+filepath.Join(dir, "t.csv"), Options{Split: Train})
		if err == nil {
			src.Close()
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
	for name, c := range map[string]struct {
		files map[string]string
		want  string
	}{
		"several":       {map[string]string{"a.csv": table, "b.csv": table}, "several tables in it: a.csv, b.csv; name one"},
		"none":          {map[string]string{"a.txt": table}, "no file that ends with .csv; name the file of a table"},
		"other columns": {map[string]string{"train/_classes.csv": "filename,a,b\n", "val/_classes.csv": "filename,a\n"}, "a header and no row"},
		"different": {map[string]string{"train/_classes.csv": "filename,a,b\na.ppm,1,0\n",
			"val/_classes.csv": "filename,a,c\na.ppm,1,0\n"}, "val/_classes.csv has other columns than train/_classes.csv"},
	} {
		_, err := Open(context.Background(), "csv:"+written(t, c.files), Options{Split: Train})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
}
