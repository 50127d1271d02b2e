package data

import (
	"slices"
	"strings"
	"testing"
)

// TestFormsOfNames: macOS writes letters with accents as two code points. A class with this name is the
// same class in folders, archives and tables, and a table finds a file with its name in either form.
func TestFormsOfNames(t *testing.T) {
	const nfc, nfd = "caf\u00e9", "cafe\u0301"
	want := []string{nfc, "caff"}
	for _, name := range []string{nfc, nfd} {
		files := []file{{name + "/0.png", pngOf(t, 2, 2, 0)}, {"caff/1.png", pngOf(t, 2, 2, 9)}}
		src := open(t, "folder:"+unpack(t, files), Options{})
		if got := src.Info().Classes; !slices.Equal(got, sorted(want)) {
			t.Errorf("folder %+q: classes %+q, want %+q", name, got, sorted(want))
		}
		for _, other := range []string{nfc, nfd} {
			table := "path,label\n" + other + "/0.png," + other + "\n" + name + "/0.png," + name + "\n0.png,caff\n"
			spec := tableOf(t, name+"/", strings.ReplaceAll(table, "\n0.png", "\n"+other+"/1.png"))
			src := open(t, spec, Options{})
			if got := src.Info().Classes; !slices.Equal(got, sorted(want)) {
				t.Errorf("table %+q: classes %+q, want %+q", other, got, sorted(want))
			}
			if src.Info().Len != 2 {
				t.Errorf("table %+q: %d samples, want 2", other, src.Info().Len)
			}
			for i := range src.Info().Len {
				if _, err := src.Sample(t.Context(), i); err != nil {
					t.Errorf("table %+q beside files %+q: %v", other, name, err)
				}
			}
		}
	}
}

func sorted(names []string) []string { return slices.Sorted(slices.Values(names)) }
