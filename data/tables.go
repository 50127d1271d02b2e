package data

import (
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/bnctl/bnctl/data/internal/names"
	"github.com/bnctl/bnctl/data/tables"
	"github.com/bnctl/bnctl/internal/regular"
	"github.com/bnctl/bnctl/problem"
)

// openTables opens csv:PATH. PATH is a table, a folder with one table, or a folder with a table in each of
// its parts. Roboflow writes the last form.
func openTables(ctx context.Context, s spec, opt Options) (Source, error) {
	splits, found, isFolder := tablesIn(s.path)
	if !isFolder {
		return openCSV(ctx, s, opt) // PATH is a file, or does not exist
	}
	said, folder := "", s.path
	var src Source
	var err error
	switch table := usualTable(found); {
	case len(splits) > 0:
		t, err := tables.Join(s.path, splits)
		if err != nil {
			return nil, err
		}
		said, s.path = strings.Join(splits, ", ")+" are read", regular.Join(folder, splitTable)
		src, err = openTable(ctx, s, t, opt)
		if err != nil {
			return nil, err
		}
	case table != "":
		said, s.path = table+" is read", regular.Join(folder, table)
		if src, err = openCSV(ctx, s, opt); err != nil {
			return nil, fmt.Errorf("%s: %w", table, err)
		}
	case len(found) > 0:
		return nil, problem.Advise("name one of them", "there are several tables in it: %s", names.First(found))
	default:
		return nil, problem.Advise("name the file of a table",
			"there is no table in it, no file that ends with .csv")
	}
	if p, ok := src.(*pictures); ok {
		p.info.columns = strings.TrimSuffix(said+"; "+p.info.columns, "; ")
	}
	return src, nil
}

// tablesIn returns the tables in the parts of a folder (splits), and the tables in the folder itself (found).
// isFolder reports whether the folder exists.
func tablesIn(folder string) (splits, found []string, isFolder bool) {
	if r := regular.RemoteOf(folder); r != nil {
		for f, err := range r.Files(folder) {
			if err != nil {
				return nil, nil, false // it may be a file
			}
			isFolder = true
			switch dir, base := path.Split(f.Name); {
			case base == splitTable && splitOf(strings.TrimSuffix(dir, "/")) != "":
				splits = append(splits, f.Name)
			case dir == "" && strings.EqualFold(path.Ext(base), ".csv"):
				found = append(found, base)
			}
		}
		return splits, found, isFolder
	}
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, nil, false
	}
	for _, e := range entries {
		name := path.Join(e.Name(), splitTable)
		if info, err := os.Stat(filepath.Join(folder, name)); err == nil && info.Mode().IsRegular() &&
			splitOf(e.Name()) != "" {
			splits = append(splits, name)
		}
		if strings.EqualFold(filepath.Ext(e.Name()), ".csv") && !e.IsDir() {
			found = append(found, e.Name())
		}
	}
	return splits, found, true
}

// splitTable is the name of the table in each part of a Roboflow folder.
const splitTable = "_classes.csv"

// usualTable returns the only table of a folder or, of several, the table with a usual name for the labels of
// training samples. It returns "" if it cannot choose.
func usualTable(tables []string) string {
	if len(tables) == 1 {
		return tables[0]
	}
	for _, usual := range []string{"train.csv", "labels.csv", "train_labels.csv", "trainLabels.csv"} {
		for _, name := range tables {
			if strings.EqualFold(name, usual) {
				return name
			}
		}
	}
	return ""
}
