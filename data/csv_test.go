package data

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// tableOf writes a table next to pictures 0.png to 3.png, in the given folder, and returns
// its spec.
func tableOf(t *testing.T, folder, table string) string {
	t.Helper()
	var files []file
	for _, name := range strings.Fields("0 1 2 3") {
		files = append(files, file{folder + name + ".png", pngOf(t, 2, 2, name[0])})
	}
	return "csv:" + filepath.Join(unpack(t, append(files, file{"train.csv", []byte(table)})), "train.csv")
}

func TestCSV(t *testing.T) {
	for _, c := range []struct {
		name, folder, table string
		opt                 Options
		classes             string
		labels              []int32
	}{
		{"plain", "", "path,label\n0.png,cat\n1.png,dog\n", Options{}, "cat dog", []int32{0, 1}},
		{"no header", "", "0.png,dog\n1.png,cat\n2.png,dog", Options{}, "cat dog", []int32{1, 0, 1}},
		{"byte order mark, CRLF, tabs", "", "\xef\xbb\xbfFile\tClass\r\n0.png\tb\r\n1.png\ta\r\n", Options{}, "a b",
			[]int32{1, 0}},
		{"semicolons", "", "image;target\n0.png;b\n1.png;a\n", Options{}, "a b", []int32{1, 0}},
		{"quotes", "", "path,label\n\"0.png\",\"a, \"\"b\"\"\"\n1.png, c\n", Options{}, `a,_"b" c`, []int32{0, 1}},
		{"identifiers, in a folder", "train/", "id,breed\n0,pug\n3,boxer\n", Options{}, "boxer pug", []int32{1, 0}},
		{"numbers in their order", "images/", "id,label\n0,10\n1,9\n2,100\n", Options{}, "9 10 100", []int32{1, 0, 2}},
		{"no numbers", "", "path,label\n0.png,10\n1.png,09\n2.png,9\n", Options{}, "09 10 9", []int32{1, 0, 2}},
		{"backslashes", "a/b/", "path,label\na\\b\\0.png,x\na\\b\\1.png,y\n", Options{}, "x y", []int32{0, 1}},
		{"named columns", "", "who,what,label\n0.png,cat,7\n1.png,dog,8\n", Options{Columns: "path=who,label=what"},
			"cat dog", []int32{0, 1}},
		{"a column for each class", "", "filename,cat,dog\n0.png,0,1\n1.png,1,0\n", Options{}, "cat dog", []int32{1, 0}},
		{"splits", "", "path,label,split\n0.png,a,train\n1.png,b,Training\n2.png,b,valid\n", Options{Split: Val}, "a b",
			[]int32{1}},
	} {
		src := open(t, tableOf(t, c.folder, c.table), c.opt)
		var labels []int32
		for i := range src.Info().Len {
			labels = append(labels, label(t, src, i)...)
			if _, err := src.Sample(t.Context(), i); err != nil {
				t.Errorf("%s: %v", c.name, err)
			}
		}
		classes := strings.ReplaceAll(strings.Join(src.Info().Classes, "|"), " ", "_")
		if classes != strings.ReplaceAll(c.classes, " ", "|") || !slices.Equal(labels, c.labels) {
			t.Errorf("%s: classes %s, labels %v; want %s, %v", c.name, classes, labels, c.classes, c.labels)
		}
	}
}

func TestCSVRefused(t *testing.T) {
	for _, c := range []struct {
		table string
		opt   Options
		wants []string
	}{
		{"", Options{}, []string{"no row"}},
		{"path,label\n", Options{}, []string{"a header and no row"}},
		{"path,label\n0.png,a\n1.png\n", Options{}, []string{"line 3 has 1 column, the first line 2"}},
		{"path,label\n0.png,a\n1.png,\n", Options{}, []string{"line 3 has no label"}},
		{"path,label\n,a\n", Options{}, []string{"line 2 has no path"}},
		{"path,label\n0.png,a\n1.png,b\n0.png,b\n", Options{}, []string{"0.png is a in line 2 and b in line 4"}},
		{"path,label\n0.png,a\n./0.png,b\n", Options{}, []string{"0.png is a in line 2 and b in line 3"}},
		{"path,label\n0.png,a\n9.png,b\n", Options{}, []string{"9.png", "no such file"}},
		{"path,label\n0.png,\"a\n", Options{}, []string{"line 2", "quotes"}},
		{"path,label\n0.png,a\"b\n", Options{}, []string{"line 2", "quotes"}},
		{"path,label\n0.png,caf\xe9\n", Options{}, []string{"line 2 is no UTF-8", "save it as UTF-8"}},
		{"\xff\xfep\x00", Options{}, []string{"UTF-16"}},
		{"path,label,split\n0.png,a,3\n", Options{}, []string{`line 2: "3" is no split`, "columns"}},
		{"path,label\n0.png,a\n", Options{Columns: "label=breed"}, []string{"there is no column breed", "path, label"}},
		{"path,label\n0.png,a\n", Options{Columns: "x=path"}, []string{"want path=NAME"}},
		{"a,b\n0.png,3\n", Options{}, []string{"a path", "a, b", "csv-columns"}},
		{"path,weight\n0.png,3\n", Options{}, []string{"a label", "path, weight"}},
		{"path,label\n0.png,a;b\n1.png,a;;b\n", Options{}, []string{"line 3 has a label without a name"}},
		{"path,label\n0.png,a;b\n1.png,b; b\n", Options{}, []string{"line 3 has label b twice"}},
		{"path,label\n0.png,a;b\n0.png,a\n", Options{}, []string{"0.png is a;b in line 2 and a in line 3"}},
		{"path,label,split\n0.png,a;b,train\n1.png,c,val\n", Options{}, []string{"line 3", "no row of train has: c"}},
		{"path,x\n0.png,3\n1.png,3,5\n", Options{Columns: "target=x"}, []string{"line 3 has 3 columns"}},
		{"path,x,y\n0.png,3,4\n1.png,5,low\n", Options{Columns: "target=x,target=y"},
			[]string{`line 3, column y: "low" is no number`}},
		{"path,x\n0.png,inf\n", Options{Columns: "target=x"}, []string{`line 2, column x: "inf" is no number`}},
		{"path,label\n0.png,a\n1.png,NaN\n", Options{}, []string{"line 3 has no label", "NaN", "another name"}},
		{"path,tags\n0.png,haze primary\n1.png,agriculture clear primary water\n2.png,clear primary\n3.png,clear\n",
			Options{}, []string{`"haze primary" may be a list`, "blanks", "list=space", "list=none"}},
		{"path,label\n0.png,\"['a', b]\"\n", Options{Columns: "list=brackets"}, []string{"line 2", "['cat', 'dog']"}},
		{"path,label\n0.png,a\n", Options{Columns: "list=slash"}, []string{"none, semicolon, bar, comma, space, brackets"}},
		{"path,label,is_valid\n0.png,a,maybe\n", Options{}, []string{`line 2: "maybe" is no split`}},
		{"path,label,fold\n0.png,a,0\n1.png,a,1\n", Options{Columns: "split=fold:2"},
			[]string{"no row has this value in column fold", "0, 1"}},
		{"path,x\n0.png,1e39\n", Options{Columns: "target=x"}, []string{"line 2, column x"}},
		{"path,x\n0.png,1\n0.png,2\n", Options{Columns: "target=x"}, []string{"0.png is 1 in line 2 and 2 in line 3"}},
		{"path,x\n0.png,1\n", Options{Columns: "target=z"}, []string{"there is no column z"}},
		{"path,x\n0.png,1\n", Options{Columns: "target=x,target=x"}, []string{"target x twice"}},
		{"path,label,split\n0.png,a,train\n1.png,b,val\n", Options{}, []string{"a class that train", "b"}},
	} {
		_, err := Open(t.Context(), tableOf(t, "", c.table), c.opt)
		wantError(t, err, c.wants...)
	}
	_, err := Open(t.Context(), "folder:x", Options{Columns: "label=y"})
	wantError(t, err, "folder has no columns")
}

// If the options permit it, rows without a file are left out, like files that cannot be read.
func TestCSVSkips(t *testing.T) {
	spec := tableOf(t, "", "path,label\n0.png,a\n1.png,b\n9.png,b\n")
	i := open(t, spec, Options{SkipBad: 1}).Info()
	if i.Len != 2 || len(i.Skipped) != 1 || i.Skipped[0].Name != "9.png" {
		t.Errorf("%d samples, skipped %v; want 2, and 9.png", i.Len, i.Skipped)
	}
}

// The columns that were recognised are reported.
func TestCSVSaysItsColumns(t *testing.T) {
	notes := open(t, tableOf(t, "", "Image,Breed,patient\n0.png,a,p\n"), Options{}).Info().Notes()
	if want := "path is column Image, label is column Breed, group is column patient"; !slices.Contains(notes, want) {
		t.Errorf("notes %q, want %q", notes, want)
	}
}

func TestCSVGroups(t *testing.T) {
	spec := tableOf(t, "", "path,label,patient\n0.png,a,p\n1.png,b,p\n2.png,a,q\n3.png,b,q\n")
	out, err := Holdout{Fraction: 0.5, Groups: groupColumn}.Split(t.Context(), open(t, spec, Options{}))
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(pathsOf(out.Validation), " "); got != "0.png 1.png" && got != "2.png 3.png" {
		t.Errorf("set apart are %s: want one patient", got)
	}
}

func TestJoined(t *testing.T) {
	a := "folder:" + unpack(t, []file{{"cat/1.png", pngOf(t, 2, 2, 1)}, {"dog/1.png", pngOf(t, 3, 2, 2)}})
	b := tableOf(t, "", "path,label\n0.png,eel\n1.png,dog\n2.png,ant\n")
	src := open(t, a+"++"+b, Options{})
	var labels []int32
	for i := range src.Info().Len {
		labels = append(labels, label(t, src, i)...)
		if s, err := src.Sample(t.Context(), i); err != nil || len(s.Bytes) == 0 {
			t.Error(err)
		}
	}
	if i := src.Info(); strings.Join(i.Classes, " ") != "cat dog ant eel" ||
		!slices.Equal(labels, []int32{0, 1, 3, 1, 2}) || i.Kind != "folder++csv" || i.Shape != nil {
		t.Errorf("classes %v, labels %v, %s %v", i.Classes, labels, i.Kind, i.Shape)
	}
	if _, err := (Holdout{Fraction: 0.5}).Split(t.Context(), src); err != nil {
		t.Error(err)
	}
	_, err := Open(t.Context(), a+"++shapes", Options{})
	wantError(t, err, "of another kind")
	_, err = Open(t.Context(), a+"++folder:"+filepath.Join(os.TempDir(), "none-there"), Options{})
	wantError(t, err, "none-there")
}
