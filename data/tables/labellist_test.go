package tables

import (
	"strings"
	"testing"
)

// TestLabelLists checks the form of lists that is found for the cells of a column of labels, and the labels
// in them.
func TestLabelLists(t *testing.T) {
	for _, c := range []struct {
		cells string // separated by /
		form  labelLists
		want  string // labels of the cells, separated by / too
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
		// These cells are names of classes, not lists.
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
