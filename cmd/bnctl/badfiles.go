package main

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/train"
)

func skipFlag() cli.Flag {
	return &cli.StringFlag{Name: "skip-bad", DefaultText: "none",
		Usage: "leave out up to `N` picture files that cannot be read, or all"}
}

// skipBad reads --skip-bad.
func skipBad(c *cli.Context) (int, error) {
	text := c.String("skip-bad")
	if text == "" {
		return 0, nil
	}
	if text == "all" {
		return data.SkipAll, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		return 0, misuse("--skip-bad %q: want a number of files, or all", text)
	}
	return n, nil
}

// skip is skipBad; a resumed run leaves out what it left out before.
func (t *trainer) skip() (int, error) {
	if t.checkpoint == nil || t.c.IsSet("skip-bad") {
		return skipBad(t.c)
	}
	r, err := train.ParseRecipe(t.checkpoint.Recipe)
	if err != nil {
		return 0, err
	}
	return max(r.Data.Skipped, r.Validation.Skipped), nil
}

// tellOfFiles says which files of a source are no samples.
func tellOfFiles(o *output, flag string, i data.Info) {
	if n := len(i.Skipped); n > 0 {
		o.note("%s: %s left out, which cannot be read: %s", flag, counted(n, "file"), namesOf(i.Skipped))
	}
	if len(i.Ignored) > 0 {
		o.note("%s: files that are no pictures are ignored: %s", flag, kindList(i.Ignored))
	}
	if len(i.Empty) > 0 {
		o.note("%s: %s without a picture: %s", flag, counted(len(i.Empty), "folder"), firstOf(i.Empty))
	}
}

func namesOf(bad []data.Bad) string {
	var names []string
	for _, b := range bad {
		names = append(names, b.Name)
	}
	return firstOf(names)
}

func firstOf(names []string) string {
	const most = 5
	if len(names) > most {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
	}
	return strings.Join(names, ", ")
}

// kindList writes how many files there are of each ending: "120 .jpg, 3 .png".
func kindList(kinds map[string]int) string {
	var parts []string
	for _, k := range slices.Sorted(maps.Keys(kinds)) {
		name := k
		if name == "" {
			name = "without ending"
		}
		parts = append(parts, fmt.Sprintf("%d %s", kinds[k], name))
	}
	return strings.Join(parts, ", ")
}
