package data

import (
	"slices"
	"strings"
	"testing"
)

// The form of lists and the labels found for cells of a column of labels.
func TestLabelLists(t *testing.T) {
	for _, c := range []struct {
		cells string // separated by /
		form  labelLists
		want  string // labels of the cells, likewise
	}{
		{"cat/dog/cat;dog/;", semicolons, "cat/dog/cat+dog/"},
		{"Cardiomegaly|Effusion/No Finding/Mass", bars, "Cardiomegaly+Effusion/No Finding/Mass"},
		{"cat,dog/cat/dog", commas, "cat+dog/cat/dog"},
		{"cat, dog/cat,/dog", commas, "cat+dog/cat/dog"},
		{"red/blue/red blue", blanks, "red/blue/red+blue"},
		{"16 0/7 1 2 0/5", blanks, "16+0/7+1+2+0/5"},
		{"a b c/a b/b c/a c/a", blanks, "a+b+c/a+b/b+c/a+c/a"}, // 5 lists of 3 labels
		{"['cat', 'dog']/['cat']/[]", brackets, "cat+dog/cat/"},
		{"[\"it's\", 'b\\'c']/['x' 'y']", brackets, "it's+b'c/x+y"},
		{"[1, 2]/[3 4]/(5,)", brackets, "1+2/3+4/(5,)"},
		{"{'a', 'b'}/('a',)/set()", brackets, "a+b/a/"},
		{"['a']/['b']", brackets, "a/b"},
		// names of classes
		{"golden retriever/labrador retriever/poodle", noLists, ""},
		{"cat/egyptian cat/dog/hot dog", noLists, ""},
		{"american pit bull terrier/bull terrier/beagle", noLists, ""},
		{"red cube/green cube/red ball/green ball", noLists, ""},
		{"Paris, France/Lyon, France/Bonn, Germany", noLists, ""},
		{"New York/York/Berlin", noLists, ""},
		{"Tesla Model S Sedan 2012/Audi S4 Sedan 2012/Audi S4 Sedan 2007", noLists, ""},
		{"dog (hot)/dog/(other)", noLists, ""},
	} {
		cells := strings.Split(c.cells, "/")
		form, err := findLists(cells)
		if form != c.form || err != nil {
			t.Errorf("%s: %s, %v; want %s", c.cells, form, err, c.form)
			continue
		}
		if c.want == "" {
			continue
		}
		var got []string
		for _, cell := range cells {
			names, err := form.names(cell)
			if err != nil {
				names = []string{cell}
			}
			got = append(got, strings.Join(names, "+"))
		}
		if strings.Join(got, "/") != c.want {
			t.Errorf("%s: %q, want %q", c.cells, got, c.want)
		}
	}
}

// Lists in every form give the same labels as the table with semicolons.
func TestCSVOfListsInEveryForm(t *testing.T) {
	want := []int32{1, 1, 0, 1, 1, 0, -1, -1}
	for table, columns := range map[string]string{
		"path,labels\n0.png,dog;cat\n1.png,dog\n2.png,cat\n3.png,\n":                         "",
		"path,labels\n0.png,dog|cat\n1.png,dog\n2.png,cat\n3.png,NaN\n":                      "",
		"path,labels\n0.png,\"dog,cat\"\n1.png,dog\n2.png,cat\n3.png,nan\n":                  "",
		"path,labels\n0.png,dog cat\n1.png,dog\n2.png,cat\n3.png,N/A\n":                      "",
		"path,labels\n0.png,\"['dog', 'cat']\"\n1.png,['dog']\n2.png,\"['cat']\"\n3.png,NaN": "",
		"path,cat,dog\n0.png,1,1\n1.png,0,1\n2.png,1,0\n3.png,NaN,NA\n":                      "",
		"path,what\n0.png,dog cat\n1.png,dog\n2.png,cat\n3.png,\n":                           "label=what,list=space",
	} {
		src := open(t, tableOf(t, "", table), Options{Columns: columns})
		var got []int32
		for i := range src.Info().Len {
			got = append(got, label(t, src, i)...)
		}
		if i := src.Info(); !i.MultiLabel || !slices.Equal(i.Classes, []string{"cat", "dog"}) ||
			!slices.Equal(got, want) {
			t.Errorf("%q: classes %q, labels %v, want %v", table, i.Classes, got, want)
		}
	}
}

// If each row has one label in brackets, labels exclude each other. A table of names, found
// or declared, keeps them.
func TestCSVOfOneLabelInEveryForm(t *testing.T) {
	for table, columns := range map[string]string{
		"path,label\n0.png,['red car']\n1.png,\"[\"\"bus\"\"]\"\n": "",
		"path,label\n0.png,red car\n1.png,bus\n":                   "",
		"path,label\n0.png,red car\n1.png,bus\n2.png,bus\n":        "list=none",
	} {
		i := open(t, tableOf(t, "", table), Options{Columns: columns}).Info()
		if i.MultiLabel || !slices.Equal(i.Classes, []string{"bus", "red car"}) {
			t.Errorf("%q: classes %q, several: %v", table, i.Classes, i.MultiLabel)
		}
	}
}

// Columns that divide the rows: flags, and a value of a column of folds.
func TestCSVSplitColumns(t *testing.T) {
	for table, columns := range map[string]string{
		"path,label,is_valid\n0.png,a,False\n1.png,b,False\n2.png,a,True\n":     "",
		"path,label,IS_VAL\n0.png,a,0\n1.png,b,0\n2.png,a,1\n":                  "",
		"path,label,is_train\n0.png,a,yes\n1.png,b,yes\n2.png,a,no\n":           "",
		"path,label,fold\n0.png,a,0\n1.png,b,2\n2.png,a,1\n":                    "split=fold:1",
		"path,a,b,is_valid,fold\n0.png,1,0,0,0\n1.png,0,1,0,1\n2.png,1,0,1,0\n": "",
	} {
		spec := tableOf(t, "", table)
		for split, want := range map[Split]int{Train: 2, Val: 1} {
			src := open(t, spec, Options{Columns: columns, Split: split})
			if i := src.Info(); i.Len != want || i.Split != split || !slices.Equal(i.Classes, []string{"a", "b"}) {
				t.Errorf("%q: %d samples of %q, classes %q; want %d of %s", table, i.Len, i.Split, i.Classes, want, split)
			}
		}
	}
	notes := open(t, tableOf(t, "", "path,label,fold\n0.png,a,4\n1.png,b,2\n"), Options{}).Info().Notes()
	if len(notes) != 1 || !strings.Contains(notes[0], "column fold is not used") || !strings.Contains(notes[0], "split=fold:4") {
		t.Errorf("notes %q", notes)
	}
}
