package objects

import (
	"context"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/data/tables"
	"github.com/bnctl/bnctl/internal/regular"
	"github.com/bnctl/bnctl/problem"
)

// maxTable is the largest table of boxes that is read, in bytes.
const maxTable = 200 << 20

// openCSV reads csv:FILE, a table with a row for each box, or the tables of a folder or archive:
// _annotations.csv in the folder of each split, or the only table. Pictures are looked for in the folder of
// the table.
func openCSV(ctx context.Context, o *opening) error {
	r := &csvReader{opening: o, indices: map[string]int{}}
	if isTableFile(o.path) {
		b, err := regular.Read(o.path, maxTable)
		if err != nil {
			return err
		}
		if err := o.list(ctx, regular.Dir(o.path), func(string) bool { return false }); err != nil {
			return err
		}
		r.pictures = o.byBase()
		r.read(filepath.Base(o.path), b)
		return r.finish()
	}
	if err := o.list(ctx, o.path, isTable); err != nil {
		return err
	}
	r.pictures = o.byBase()
	for _, f := range boxTables(o.set.files.All) {
		b, err := f.Read()
		if err != nil {
			return problem.Advise("mend or remove it", "%s: %w", f.Name, err)
		}
		r.read(f.Name, b)
	}
	return r.finish()
}

// isTableFile reports whether a path is a CSV file. It is false for a folder or an archive.
func isTableFile(name string) bool {
	return isTable(name) && isFile(name)
}

func isTable(name string) bool { return strings.EqualFold(path.Ext(name), ".csv") }

// boxTables returns the tables of a folder: those with Roboflow's name, or else the only one.
func boxTables(files []data.File) (found []data.File) {
	var all []data.File
	for _, f := range files {
		if isTable(f.Name) {
			all = append(all, f)
		}
		if path.Base(f.Name) == "_annotations.csv" {
			found = append(found, f)
		}
	}
	if len(found) == 0 && len(all) == 1 {
		return all
	}
	return found
}

// csvReader reads several tables into one set.
type csvReader struct {
	*opening
	pictures map[string][]data.File // pictures by the last element of their names
	indices  map[string]int         // indices of pictures in the set, by their names
	names    [][]string             // names of the classes of the objects, by picture
}

// row is a row of a table.
type row struct {
	file    string
	line    int
	fields  []string
	columns tables.BoxColumns
	table   *tables.Table
}

// field returns the text of a row in a column, or "" if the table does not have the column.
func (r row) field(column int) string {
	if column < 0 {
		return ""
	}
	return r.fields[column]
}

// read adds the rows of a table.
func (r *csvReader) read(file string, text []byte) {
	t, err := tables.Parse(text)
	if err != nil {
		r.add(file, 0, "write a row for each box: path, x1, y1, x2, y2, label", "%v", err)
		return
	}
	c, ok := t.FindBoxes()
	switch {
	case !ok:
		r.add(file, 1, "write the columns path, x1, y1, x2, y2, label", "there are no columns of corners")
		return
	case c.Path < 0 || c.Label < 0:
		r.add(file, 1, "write the columns path, x1, y1, x2, y2, label", "there is no column of paths or of labels")
		return
	}
	for _, line := range t.Rows {
		r.row(row{file, line.Line, line.Fields, c, t})
	}
}

// row adds a row of a table: a box, or a picture without boxes if the corners are empty.
func (r *csvReader) row(x row) {
	at, ok := r.picture(x)
	if !ok {
		return
	}
	empty := 0
	for _, c := range x.columns.Corners {
		if x.field(c) == "" {
			empty++
		}
	}
	label := x.field(x.columns.Label)
	switch {
	case empty == 4:
		return
	case label == "":
		r.add(x.file, x.line, "write the class of the box", "the box has no label")
		return
	}
	p := &r.set.Pictures[at]
	if box, ok := r.box(x); ok {
		p.Objects = append(p.Objects, Object{Box: box, Area: box.Area(), line: x.line})
		r.names[at] = append(r.names[at], label)
	}
}

// box returns the box of a row, in pixels.
func (r *csvReader) box(x row) (b Box, ok bool) {
	var v [4]float64
	for i, c := range x.columns.Corners {
		number, err := strconv.ParseFloat(x.field(c), 64)
		if err != nil || !(number > -1<<24 && number < 1<<24) {
			r.add(x.file, x.line, "write a number of pixels", "column %s is %s", x.table.ColumnName(c),
				quote(x.field(c)))
			return b, false
		}
		v[i] = number
	}
	for i, name := range []string{"x", "y"} {
		if v[i+2] < v[i] {
			r.add(x.file, x.line, "swap them", "%s2 %v is less than %s1 %v", name, v[i+2], name, v[i])
			return b, false
		}
	}
	if isNormalised(v[:]...) {
		r.add(x.file, x.line, "multiply them by the picture's size",
			"%v are fractions of the picture; corners are pixels", v)
		return b, false
	}
	return Box{v[0], v[1], v[2], v[3]}, true
}

// picture returns the index in the set of the picture of a row. If the picture is new, it is added to the
// set.
func (r *csvReader) picture(x row) (index int, ok bool) {
	name := path.Clean(strings.ReplaceAll(x.field(x.columns.Path), `\`, "/"))
	if x.field(x.columns.Path) == "" {
		r.add(x.file, x.line, "name the file of the picture", "the row has no path")
		return 0, false
	}
	p := Picture{Name: name, file: x.file, line: x.line}
	if !r.size(x, &p) || !r.split(x, &p) {
		return 0, false
	}
	key := x.file + "\n" + name
	if index, ok := r.indices[key]; ok {
		return index, r.checkSame(x, index, &p)
	}
	p.ID = int64(len(r.set.Pictures))
	f, err := chooseFile(r.pictures[path.Base(name)], &p)
	if err != nil && !r.options.OnlyAnnotations {
		r.add(x.file, x.line, "put the pictures next to the table", "the picture %s %v", quote(name), err)
		r.indices[key] = -1 // report it only once
		return 0, false
	}
	if err == nil {
		p.Name, p.read = f.Name, f.Read
	}
	if index, ok := r.indices["\n"+p.Name]; ok { // another path of the same file
		r.indices[key] = index
		return index, r.checkSame(x, index, &p)
	}
	index = len(r.set.Pictures)
	r.indices[key], r.indices["\n"+p.Name] = index, index
	r.set.Pictures, r.names = append(r.set.Pictures, p), append(r.names, nil)
	return index, true
}

// checkSame reports whether a further row of a picture has the same size and split as the picture's first
// row.
func (r *csvReader) checkSame(x row, index int, p *Picture) bool {
	if index < 0 {
		return false
	}
	first := &r.set.Pictures[index]
	switch {
	case first.Split != p.Split:
		r.add(x.file, x.line, "a picture is in one split only", "%s is in %q here, and in %q in line %d of %s",
			path.Base(first.Name), p.Split, first.Split, first.line, first.file)
	case first.Width != p.Width || first.Height != p.Height:
		r.add(x.file, x.line, "correct one of them", "the size of %s is %d x %d here, and %d x %d in line %d of %s",
			path.Base(first.Name), p.Width, p.Height, first.Width, first.Height, first.line, first.file)
	default:
		return true
	}
	return false
}

// size reads the size of the picture of a row, if the table has it.
func (r *csvReader) size(x row, p *Picture) bool {
	if x.columns.Width < 0 || x.columns.Height < 0 {
		return true
	}
	for _, side := range []struct {
		column int
		to     *int
	}{{x.columns.Width, &p.Width}, {x.columns.Height, &p.Height}} {
		n, err := strconv.Atoi(x.field(side.column))
		if err != nil || n <= 0 || n > 1<<24 {
			r.add(x.file, x.line, "write the picture's size in pixels", "column %s is %s",
				x.table.ColumnName(side.column), quote(x.field(side.column)))
			return false
		}
		*side.to = n
	}
	return true
}

// split reads the split of the picture of a row: from its column, or without the column from the folder of
// the picture.
func (r *csvReader) split(x row, p *Picture) bool {
	if x.columns.Split < 0 {
		if p.Split = folderSplit(x.file); p.Split == "" {
			p.Split = folderSplit(p.Name)
		}
		return true
	}
	p.Split = data.SplitOfFolder(x.field(x.columns.Split))
	if p.Split == "" {
		r.add(x.file, x.line, "write train, val or test", "column %s is %s", x.table.ColumnName(x.columns.Split),
			quote(x.field(x.columns.Split)))
		return false
	}
	return true
}

// finish numbers the classes in the order of their names, or of their numbers if all names are numbers.
func (r *csvReader) finish() error {
	if len(r.set.Pictures) == 0 && len(r.all) == 0 {
		return problem.Failure("", "there is no table with boxes",
			"name a CSV file with the columns path, x1, y1, x2, y2, label")
	}
	index := map[string]int{}
	for _, names := range r.names {
		for _, name := range names {
			index[name] = 0
		}
	}
	r.set.Classes = sortedNames(index)
	for i, name := range r.set.Classes {
		index[name] = i
		r.set.Numbers = append(r.set.Numbers, int64(i))
	}
	for i, names := range r.names {
		for k, name := range names {
			r.set.Pictures[i].Objects[k].Class = index[name]
		}
	}
	return nil
}

// sortedNames sorts names by number if all are whole numbers, and otherwise alphabetically.
func sortedNames(index map[string]int) []string {
	var all []string
	numbers := map[string]int{}
	for name := range index {
		all = append(all, name)
		if n, err := strconv.Atoi(name); err == nil {
			numbers[name] = n
		}
	}
	slices.SortFunc(all, func(a, b string) int {
		if len(numbers) == len(all) && numbers[a] != numbers[b] {
			return numbers[a] - numbers[b]
		}
		return strings.Compare(a, b)
	})
	return all
}
