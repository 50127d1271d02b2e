package tables_test

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/bnctl/bnctl/data/tables"
)

// Example reads a table and finds the uses of its columns.
func Example() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "birds.csv")
	text := "image,species,patient\na.jpg,wren,1\nb.jpg,robin,2\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		fmt.Println(err)
		return
	}
	t, err := tables.Read(file)
	if err != nil {
		fmt.Println(err)
		return
	}
	columns, err := t.Find("")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(t.InWords(columns))
	for _, row := range t.Rows {
		fmt.Println(row.Fields[columns.Path], t.Label(row, columns))
	}
	// Output:
	// path is column image, label is column species, group is column patient
	// a.jpg wren
	// b.jpg robin
}
