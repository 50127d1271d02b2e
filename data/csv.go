package data

import (
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/bnctl/bnctl/data/images"
	"github.com/bnctl/bnctl/data/internal/names"
	"github.com/bnctl/bnctl/problem"
)

// openCSV opens csv:FILE, a table with the path of a picture and its class in each row.
func openCSV(ctx context.Context, s spec, opt Options) (Source, error) {
	t, err := readTable(s.path)
	if err != nil {
		return nil, err
	}
	return openTable(ctx, s, t, opt)
}

// openTable opens the pictures of a table that is, or would be, at the path of s.
func openTable(ctx context.Context, s spec, t *labelTable, opt Options) (Source, error) {
	c, err := t.find(opt.Columns)
	if err != nil {
		return nil, err
	}
	name := strings.TrimSuffix(filepath.Base(s.path), filepath.Ext(s.path))
	l, err := tableLayout(t, filepath.Dir(s.path), name, c)
	if err != nil {
		return nil, err
	}
	classes := l.multi
	if !c.multi {
		classes = names.InOrderOfNumbers(l.classes())
	}
	if c.targets != nil {
		classes = nil
	}
	p, err := newPictures(s, l, classes, opt)
	if err != nil {
		return nil, err
	}
	p.table, p.weighed, p.close = true, l.weighed, func() error { return nil }
	p.info.complete = c.multi && c.oneHot == nil
	p.info.MultiLabel, p.info.Targets = c.multi, t.namesOf(c.targets)
	p.info.columns = strings.Trim(t.inWords(c)+"; "+l.said, "; ")
	return p, p.findShape(ctx, opt)
}

// tableLayout returns the samples of the rows, by split. Paths are relative to folder.
func tableLayout(t *labelTable, folder, name string, c columns) (layout, error) {
	l, seen := layout{splits: map[Split][]sampleFile{}}, map[string]labelled{}
	find, repeated := findFiles(folder, name, t.rows, c.path), 0
	var err error
	if c.multi {
		if l.multi, err = t.multiClasses(c); err != nil {
			return l, err
		}
	}
	for _, row := range t.rows {
		file := path.Clean(strings.ReplaceAll(row.fields[c.path], `\`, "/"))
		class := t.label(row, c)
		switch was, twice := seen[file]; {
		case row.fields[c.path] == "":
			return l, fmt.Errorf("line %d has no path", row.line)
		case class == "" && !c.multi && c.targets == nil:
			return l, t.noLabel(row, c)
		case twice && was.class != class:
			return l, problem.Advise("leave one of them", "%s is %s in line %d and %s in line %d", file, was.class,
				was.line, class, row.line)
		}
		named, err := t.splitOf(row, c)
		if err != nil {
			return l, err
		}
		split := Split(named)
		if was, twice := seen[file]; twice && was.split != split {
			return l, problem.Advise("leave one of them", "%s is in part %s in line %d and in part %s in line %d",
				file, was.split, was.line, split, row.line)
		}
		if _, twice := seen[file]; twice && c.targets == nil {
			repeated++
			l.said = problem.Plural(repeated, "row") + " left out that name a picture again"
			continue
		}
		seen[file] = labelled{class, row.line, split}
		s := sampleFile{member: find(file), class: class, rest: file}
		switch {
		case c.multi:
			s.label, err = t.flags(row, c, l.multi)
		case c.targets != nil:
			s.label, err = t.numbers(row, c)
		}
		if err != nil {
			return l, err
		}
		if s.label != nil {
			s.class = ""
		}
		if c.group >= 0 {
			s.group = row.fields[c.group]
		}
		if s.line = row.line; c.weight >= 0 {
			s.weight = row.fields[c.weight]
			l.weighed = true
		}
		l.splits[split] = append(l.splits[split], s)
	}
	return l, nil
}

// labelled holds the class, the line and the split of a row of a table.
type labelled struct {
	class string
	line  int
	split Split
}

// findFiles returns a function that finds the file for a path in a table: below the table's
// folder, or below a subfolder that has the table's name or a usual one. If the table omits
// the extension, a picture extension is added. The first row that leads to a file decides.
func findFiles(folder, table string, rows []tableRow, column int) func(file string) member {
	below, extension := "", ""
search:
	for _, row := range rows[:min(len(rows), 100)] {
		file := strings.ReplaceAll(row.fields[column], `\`, "/")
		for _, below = range []string{"", table, "images", "imgs", "img", "pictures", "photos", "train", "data"} {
			for _, extension = range append([]string{""}, images.Extensions...) {
				if info, err := os.Stat(filePath(folder, below, file+extension)); err == nil && info.Mode().IsRegular() {
					break search
				}
			}
		}
		below, extension = "", ""
	}
	return func(file string) member {
		m := member{name: path.Join(below, file+extension)}
		at := filePath(folder, below, file+extension)
		if info, err := os.Stat(at); err == nil {
			m.size, m.listed = info.Size(), newListedFile(at, info)
		}
		m.read = func() ([]byte, error) { return readFile(at) }
		return m
	}
}

func filePath(folder, below, file string) string {
	if file = filepath.FromSlash(file); filepath.IsAbs(file) {
		return names.StoredPath(file)
	}
	return names.StoredPath(filepath.Join(folder, below, file))
}

// grouped reports whether the samples have groups.
func (p *pictures) grouped() bool { return p.samples[0].group != "" }

func (p *pictures) group(i int) string { return p.samples[i].group }
