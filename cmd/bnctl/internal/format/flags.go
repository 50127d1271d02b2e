package format

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/bnctl/bnctl/problem"
)

// OfFlags returns the format that the flags of predict select.
func OfFlags(c *cli.Context) (string, error) {
	format := c.String("format")
	if c.Bool("json") {
		if c.IsSet("format") && format != "json" {
			return "", problem.New("", "", fmt.Sprintf("--json and --format %s contradict each other", format),
				"give one of them")
		}
		return "json", nil
	}
	if !c.IsSet("format") {
		switch end := strings.ToLower(strings.TrimPrefix(filepath.Ext(c.String("output")), ".")); end {
		case "npy", "csv", "json":
			return end, nil
		}
	}
	return format, Check(format, "table", COCO, yolo)
}
