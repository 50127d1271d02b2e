package data

import (
	"slices"
	"strings"
	"testing"
)

// Lists of labels in every form give the same labels as lists with semicolons.
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

// If each row has one label, labels exclude each other. Here the labels are in brackets, without brackets,
// and without brackets with the option list=none, which states that no column has lists.
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

// TestCSVSplitColumns selects the rows of a split by a column of flags, and by a value in a column of folds.
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
