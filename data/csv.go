package data

import (
	"context"
	"fmt"
	"path"
	"path/filepath"
	"strings"

	"github.com/bnctl/bnctl/data/internal/names"
	"github.com/bnctl/bnctl/data/tables"
	"github.com/bnctl/bnctl/internal/regular"
	"github.com/bnctl/bnctl/problem"
)

// openCSV opens csv:FILE, a table with the path of a picture and its class in each row.
func openCSV(ctx context.Context, s spec, opt Options) (Source, error) {
	t, err := tables.Read(s.path)
	if err != nil {
		return nil, err
	}
	return openTable(ctx, s, t, opt)
}

// openTable opens the pictures that table t names. Its paths are relative to the folder of s.path. The file
// s.path itself need not exist.
func openTable(ctx context.Context, s spec, t *tables.Table, opt Options) (Source, error) {
	c, err := t.Find(opt.Columns)
	if err != nil {
		return nil, err
	}
	name := strings.TrimSuffix(filepath.Base(s.path), filepath.Ext(s.path))
	folder, err := openTableFolder(ctx, regular.Dir(s.path))
	if err != nil {
		return nil, err
	}
	l, err := tableLayout(t, folder, name, c)
	if err != nil {
		return nil, err
	}
	classes := l.multi
	if !c.Multi {
		classes = names.InOrderOfNumbers(l.classes())
	}
	if c.Targets != nil {
		classes = nil
	}
	p, err := newPictures(s, l, classes, opt)
	if err != nil {
		return nil, err
	}
	p.table, p.weighed, p.close = true, l.weighed, func() error { return nil }
	p.info.complete = c.Multi && c.OneHot == nil
	p.info.MultiLabel, p.info.Targets = c.Multi, t.NamesOf(c.Targets)
	p.info.columns = strings.Trim(t.InWords(c)+"; "+l.note, "; ")
	return p, p.findShape(ctx, opt)
}

// tableLayout returns a sample for each row, by split. Paths are relative to folder.
func tableLayout(t *tables.Table, folder *tableFolder, name string, c tables.Columns) (layout, error) {
	l, seen := layout{splits: map[Split][]sampleFile{}}, map[string]labelled{}
	find, repeated := folder.finder(name, t.Rows, c.Path), 0
	var err error
	if c.Multi {
		if l.multi, err = t.MultiClasses(c); err != nil {
			return l, err
		}
	}
	for _, row := range t.Rows {
		file := path.Clean(strings.ReplaceAll(row.Fields[c.Path], `\`, "/"))
		class := t.Label(row, c)
		switch was, twice := seen[file]; {
		case row.Fields[c.Path] == "":
			return l, fmt.Errorf("line %d has no path", row.Line)
		case class == "" && !c.Multi && c.Targets == nil:
			return l, t.NoLabel(row, c)
		case twice && was.class != class:
			return l, problem.Advise("leave one of them", "%s is %s in line %d and %s in line %d", file, was.class,
				was.line, class, row.Line)
		}
		named, err := t.SplitOf(row, c)
		if err != nil {
			return l, err
		}
		split := Split(named)
		if was, twice := seen[file]; twice && was.split != split {
			return l, problem.Advise("leave one of them", "%s is in part %s in line %d and in part %s in line %d",
				file, was.split, was.line, split, row.Line)
		}
		if _, twice := seen[file]; twice && c.Targets == nil {
			repeated++
			l.note = problem.Plural(repeated, "row") + " left out that name a picture again"
			continue
		}
		seen[file] = labelled{class, row.Line, split}
		s := sampleFile{member: find(file), class: class, rest: file}
		switch {
		case c.Multi:
			s.label, err = t.Flags(row, c, l.multi)
		case c.Targets != nil:
			s.label, err = t.Numbers(row, c)
		}
		if err != nil {
			return l, err
		}
		if s.label != nil {
			s.class = ""
		}
		if c.Group >= 0 {
			s.group = row.Fields[c.Group]
		}
		if s.line = row.Line; c.Weight >= 0 {
			s.weight = row.Fields[c.Weight]
			l.weighed = true
		}
		l.splits[split] = append(l.splits[split], s)
	}
	return l, nil
}

// labelled has the class, the line and the split of a row.
type labelled struct {
	class string
	line  int
	split Split
}

// grouped reports whether the table has a column of groups.
func (p *pictures) grouped() bool { return p.samples[0].group != "" }

func (p *pictures) group(i int) string { return p.samples[i].group }
