package tables

import (
	"fmt"
	"path"
	"slices"

	"github.com/bnctl/bnctl/internal/regular"
	"github.com/bnctl/bnctl/problem"
)

// Join reads the tables of the parts of a folder as one table. Its paths are relative to the folder, and it
// has an additional column for the part. The names in files have slashes.
func Join(folder string, files []string) (*Table, error) {
	all := &Table{}
	for _, file := range files {
		t, err := Read(regular.Join(folder, file))
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
		dir := path.Dir(file)
		for _, row := range t.Rows {
			row.Fields[at] = dir + "/" + row.Fields[at]
			all.Rows = append(all.Rows, Row{row.Line, append(slices.Clip(row.Fields), dir)})
		}
	}
	return all, nil
}
