package objects

import (
	"context"
	"strings"

	"github.com/bnctl/bnctl/data"
)

// HasMasks reports whether voc:PATH has masks. Commands read masks then, and boxes otherwise.
func HasMasks(ctx context.Context, spec string) bool {
	form, _ := CutSplit(spec)
	folder, ok := strings.CutPrefix(form, "voc:")
	if !ok {
		return false
	}
	files, err := data.OpenFiles(ctx, folder, func(name string) bool {
		return strings.Contains("/"+name, "/SegmentationClass/")
	})
	if err != nil {
		return false
	}
	defer files.Close()
	return len(files.All) > 0
}
