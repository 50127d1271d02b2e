package objects

import (
	"context"
	"strings"

	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/data/tables"
)

// hasMasks reports whether a folder of VOC has masks.
func hasMasks(ctx context.Context, folder string) bool {
	files, err := data.OpenFiles(ctx, folder, func(name string) bool {
		return strings.Contains("/"+name, "/SegmentationClass/")
	})
	if err != nil {
		return false
	}
	defer files.Close()
	return len(files.All) > 0
}

// hasTable reports whether csv:PATH has boxes. This depends on the columns of the file, or of the first table
// in a folder or archive.
func hasTable(ctx context.Context, name string) bool {
	if isTableFile(name) {
		return tables.HasBoxes(name)
	}
	files, err := data.OpenFiles(ctx, name, isTable)
	if err != nil {
		return false
	}
	defer files.Close()
	all := boxTables(files.All)
	if len(all) == 0 {
		return false
	}
	b, err := all[0].Read()
	return err == nil && tables.BeginsWithBoxes(b)
}
