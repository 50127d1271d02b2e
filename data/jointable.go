package data

import (
	"fmt"
	"path/filepath"
	"slices"

	"github.com/bnctl/bnctl/problem"
)

// joinedTables reads the tables of the parts of a folder as one, with paths relative to the
// folder and a column for the part.
func joinedTables(folder string, files []string) (*labelTable, error) {
	all := &labelTable{}
	for _, file := range files {
		t, err := readTable(filepath.Join(folder, file))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		at := t.usual(columnNames.path)
		switch {
		case t.header == nil || at < 0:
			return nil, fmt.Errorf("%s: its first line names no column of paths, such as filename", file)
		case all.header == nil:
			all.header = append(slices.Clip(t.header), "split")
		case !slices.Equal(t.header, all.header[:len(all.header)-1]):
			return nil, problem.Advise("give all the same columns", "%s has other columns than %s", file, files[0])
		}
		dir := filepath.Dir(file)
		for _, row := range t.rows {
			row.fields[at] = dir + "/" + row.fields[at]
			all.rows = append(all.rows, tableRow{row.line, append(slices.Clip(row.fields), dir)})
		}
	}
	return all, nil
}
