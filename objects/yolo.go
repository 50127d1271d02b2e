package objects

import (
	"context"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/data/images"
	"github.com/bnctl/bnctl/problem"
)

// openYOLO reads a folder with data.yaml, pictures, and a text file for each picture with boxes. The text
// file of images/train/a.jpg is labels/train/a.txt. If no folder of the path is named images, the text file
// is next to the picture.
func openYOLO(ctx context.Context, o *opening) error {
	err := o.list(ctx, o.path, func(name string) bool {
		extension := strings.ToLower(path.Ext(name))
		return extension == ".txt" || extension == ".yaml" || extension == ".yml"
	})
	if err != nil {
		return err
	}
	y := &yoloReader{opening: o, texts: map[string]data.File{}, lists: map[string]bool{}}
	for _, f := range o.set.files.All {
		if strings.EqualFold(path.Ext(f.Name), ".txt") {
			y.texts[f.Name] = f
		}
	}
	if err := y.describe(); err != nil {
		return err
	}
	if err := y.assign(); err != nil {
		return err
	}
	y.startReading(ctx, func(f data.File) bool { return images.IsFileName(f.Name) })
	for _, name := range slices.Sorted(maps.Keys(y.pictureFiles())) {
		if err := y.read(ctx, y.pictureFiles()[name]); err != nil {
			return err
		}
	}
	y.checkTexts()
	return nil
}

// yoloReader reads the files of a YOLO folder.
type yoloReader struct {
	*opening
	description *yoloDescription
	texts       map[string]data.File  // text files by name
	lists       map[string]bool       // names of text files that list pictures
	files       map[string]data.File  // pictures by name
	assigned    map[string]data.Split // split of each picture
	used        map[string]string     // the picture that each text file belongs to
}

func (y *yoloReader) pictureFiles() map[string]data.File {
	if y.files == nil {
		y.files = y.opening.pictureFiles()
	}
	return y.files
}

// describe reads data.yaml, or the only YAML file.
func (y *yoloReader) describe() error {
	var found []data.File
	for _, f := range y.set.files.All {
		if e := strings.ToLower(path.Ext(f.Name)); e == ".yaml" || e == ".yml" {
			found = append(found, f)
		}
	}
	named := slices.DeleteFunc(slices.Clone(found), func(f data.File) bool { return stem(f.Name) != "data" })
	if len(named) > 0 {
		found = named
	}
	if len(found) != 1 {
		return problem.Failure("",
			"there are "+problem.Plural(len(found), "YAML file")+" with the names of classes",
			"write one data.yaml with names: [cat, dog]")
	}
	b, err := found[0].Read()
	if err != nil {
		return problem.Advise("mend or remove it", "%s: %w", found[0].Name, err)
	}
	y.description = y.parseDescription(found[0].Name, b)
	y.set.Classes = y.description.classes
	for i := range y.set.Classes {
		y.set.Numbers = append(y.set.Numbers, int64(i))
	}
	return y.err() // without classes, labels cannot be read
}

// assign finds the split of each picture: by data.yaml or, if it lists no pictures, by the names of folders.
func (y *yoloReader) assign() error {
	y.assigned, y.used = map[string]data.Split{}, map[string]string{}
	for _, split := range []data.Split{data.Train, data.Val, data.Test} {
		for _, entry := range y.description.splits[split] {
			names, err := y.picturesOf(entry)
			if err != nil {
				return err
			}
			if len(names) == 0 && split != data.Test { // Roboflow's file names test even without pictures
				y.add(y.description.file, y.description.lines[split], "correct the path",
					"%s is %s, and there is no picture", split, quote(entry))
			}
			for _, name := range names {
				if y.assigned[name] == "" {
					y.assigned[name] = split
				}
			}
		}
	}
	for name := range y.pictureFiles() {
		if y.assigned[name] == "" {
			y.assigned[name] = folderSplit(name)
		}
	}
	return nil
}

// picturesOf returns the names of the pictures that an entry of data.yaml selects. An entry is a path like
// images/train, ../train/images or train.txt. Leading folders of the author's machine are removed until the
// path exists.
func (y *yoloReader) picturesOf(entry string) ([]string, error) {
	in := path.Dir(y.description.file)
	full := strings.ReplaceAll(entry, `\`, "/")
	for _, candidate := range []string{path.Join(in, y.description.folder, full), path.Join(in, full),
		strings.TrimLeft(path.Clean(full), "./"), path.Join(path.Base(y.description.folder), full)} {
		if f, ok := y.texts[candidate]; ok {
			y.lists[candidate] = true
			return y.listed(f)
		}
		var names []string
		for name := range y.pictureFiles() {
			if strings.HasPrefix(name, candidate+"/") || candidate == "." {
				names = append(names, name)
			}
		}
		if len(names) > 0 {
			return names, nil
		}
	}
	return nil, nil
}

// listed returns the pictures that a list file names, one in each line.
func (y *yoloReader) listed(f data.File) ([]string, error) {
	b, err := f.Read()
	if err != nil {
		return nil, problem.Advise("mend or remove it", "%s: %w", f.Name, err)
	}
	var names []string
	line := 0
	for row := range strings.Lines(string(b)) {
		line++
		row = strings.TrimSpace(row)
		if row == "" {
			continue
		}
		name, ok := y.longestSuffix(path.Join(path.Dir(f.Name), row), path.Clean(row))
		if !ok {
			y.add(f.Name, line, "remove the line, or add the picture", "the picture %s is missing", quote(row))
			continue
		}
		names = append(names, name)
	}
	return names, nil
}

// longestSuffix returns the picture with a name that is the end of one of the paths, as long as possible.
func (y *yoloReader) longestSuffix(paths ...string) (string, bool) {
	for _, name := range paths {
		for name != "" {
			if _, ok := y.pictureFiles()[name]; ok {
				return name, true
			}
			_, name, _ = strings.Cut(name, "/")
		}
	}
	return "", false
}

// textsOf returns the names of those text files of a picture that exist.
func (y *yoloReader) textsOf(picture string) (found []string) {
	base := strings.TrimSuffix(picture, path.Ext(picture)) + ".txt"
	candidates := []string{base}
	elements := strings.Split(base, "/")
	for i := len(elements) - 2; i >= 0; i-- {
		if elements[i] == "images" {
			elements[i] = "labels"
			candidates = append(candidates, strings.Join(elements, "/"))
			break
		}
	}
	for _, c := range candidates {
		if _, ok := y.texts[c]; ok {
			found = append(found, c)
		}
	}
	return found
}

// read reads the labels of a picture. A picture without a text file has no boxes.
func (y *yoloReader) read(ctx context.Context, f data.File) error {
	b, err := f.Read()
	if err != nil {
		return problem.Advise("mend or remove it", "%s: %w", f.Name, err)
	}
	d, err := images.Measure(ctx, b)
	if err != nil {
		y.add(f.Name, 0, "mend or remove it", "%v", err)
		return nil
	}
	p := Picture{Name: f.Name, ID: int64(len(y.set.Pictures)), Width: d.Width, Height: d.Height,
		Split: y.assigned[f.Name], dimensions: d, read: f.Read}
	if d.Orientation > 4 { // labels are in coordinates of the upright picture
		p.Width, p.Height = p.Height, p.Width
	}
	texts := y.textsOf(f.Name)
	if len(texts) > 1 {
		y.used[texts[0]], y.used[texts[1]] = f.Name, f.Name
		y.add(texts[1], 0, "remove one of them", "%s is a second annotation of %s", texts[0], path.Base(f.Name))
		return nil
	}
	for _, text := range texts {
		if first, twice := y.used[text]; twice {
			y.add(text, 0, "give the pictures other names", "it belongs to %s and to %s", first, f.Name)
			continue
		}
		y.used[text] = f.Name
		b, err := y.texts[text].Read()
		if err != nil {
			return problem.Advise("mend or remove it", "%s: %w", text, err)
		}
		p.file, p.line = text, 1
		p.Objects = y.parseYOLO(text, string(b), len(y.set.Classes), p.Width, p.Height)
	}
	y.set.Pictures = append(y.set.Pictures, p)
	return nil
}

// checkTexts adds a fault for each text file with labels that has no picture.
func (y *yoloReader) checkTexts() {
	for _, name := range slices.Sorted(maps.Keys(y.texts)) {
		if y.used[name] != "" || y.lists[name] || !y.isLabels(name) {
			continue
		}
		y.add(name, 0, "add the picture, or remove it", "its picture %s is missing", quote(stem(name)))
	}
}

// isLabels reports whether an unused text file has labels. It does if it is in a folder labels, or if its
// first field is a number.
func (y *yoloReader) isLabels(name string) bool {
	if base := path.Base(name); base == "classes.txt" || base == "train.txt" || base == "val.txt" ||
		base == "test.txt" {
		return false
	}
	if strings.Contains("/"+name, "/labels/") {
		return true
	}
	b, err := y.texts[name].Read()
	fields := strings.Fields(string(b))
	if err != nil || len(fields) < 5 {
		return false
	}
	for _, field := range fields[:5] {
		if _, err := strconv.ParseFloat(field, 64); err != nil {
			return false
		}
	}
	return true
}
