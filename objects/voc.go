package objects

import (
	"context"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/problem"
)

// openVOC reads the annotations of a VOC folder: Annotations, JPEGImages and ImageSets/Main. Or it reads a
// folder with a subfolder for each split, which has the pictures and their XML files side by side.
func openVOC(ctx context.Context, o *opening) error {
	err := o.list(ctx, o.path, func(name string) bool {
		return strings.EqualFold(path.Ext(name), ".xml") || isSetList(name)
	})
	if err != nil {
		return err
	}
	v := &vocReader{opening: o, pictures: map[string][]data.File{}, classes: map[string]bool{},
		annotated: map[string]string{}}
	for name, f := range o.pictureFiles() {
		v.pictures[stem(name)] = append(v.pictures[stem(name)], f)
	}
	for _, f := range o.set.files.All {
		if strings.EqualFold(path.Ext(f.Name), ".xml") {
			if err := v.read(f); err != nil {
				return err
			}
		}
	}
	if len(v.annotated) == 0 && len(o.all) == 0 {
		return problem.Failure("", "there is no XML file with boxes", "want Annotations, as in VOC's folders")
	}
	v.number()
	return v.splits()
}

// isSetList reports whether a file of ImageSets/Main lists the pictures of a split. Lists of a single class,
// like cat_train.txt, do not count.
func isSetList(name string) bool {
	if !strings.HasSuffix(path.Dir(name), "ImageSets/Main") {
		return false
	}
	return slices.Contains([]string{"train.txt", "val.txt", "test.txt", "trainval.txt"}, path.Base(name))
}

// stem returns the name of a file without folders and extension.
func stem(name string) string { return strings.TrimSuffix(path.Base(name), path.Ext(name)) }

// vocReader reads the files of a VOC folder.
type vocReader struct {
	*opening
	pictures  map[string][]data.File // pictures by stem
	classes   map[string]bool
	annotated map[string]string // annotation file of each picture
	names     [][]string        // names of the classes of the objects, by picture
}

// read reads one annotation file and finds its picture.
func (v *vocReader) read(f data.File) error {
	b, err := f.Read()
	if err != nil {
		return problem.Advise("mend or remove it", "%s: %w", f.Name, err)
	}
	a := v.parseVOC(f.Name, b)
	p := Picture{Width: a.width, Height: a.height, Objects: a.objects, file: f.Name, line: a.sizeLine}
	file, ok := v.pictureOf(f.Name)
	switch {
	case ok:
		p.Name, p.read = file.Name, file.Read
	case !v.options.OnlyAnnotations:
		v.add(f.Name, 0, "put the picture next to it, or remove it", "its picture %s is missing", stem(f.Name))
		return nil
	default:
		p.Name = stem(f.Name)
	}
	if first, twice := v.annotated[p.Name]; twice {
		v.add(f.Name, 0, "remove one of them", "%s is a second annotation of %s", path.Base(p.Name), first)
		return nil
	}
	v.annotated[p.Name] = f.Name
	for _, name := range a.names {
		v.classes[name] = true
	}
	p.Split = folderSplit(p.Name)
	v.set.Pictures, v.names = append(v.set.Pictures, p), append(v.names, a.names)
	return nil
}

// pictureOf returns the picture that belongs to an annotation file. It has the same stem, and is in the same
// folder, in a folder next to it, or the only picture with this stem.
func (v *vocReader) pictureOf(name string) (data.File, bool) {
	files := v.pictures[stem(name)]
	for _, folder := range []string{path.Dir(name), path.Dir(path.Dir(name))} {
		for _, f := range files {
			if at := path.Dir(f.Name); at == folder || path.Dir(at) == folder {
				return f, true
			}
		}
	}
	if len(files) == 1 {
		return files[0], true
	}
	return data.File{}, false
}

// folderSplit returns the split that a folder in a path is named after, or "" if there is none.
func folderSplit(name string) data.Split {
	for element := range strings.SplitSeq(path.Dir(name), "/") {
		if split := data.SplitOfFolder(element); split != "" {
			return split
		}
	}
	return ""
}

// number gives each class a number: the index of its name in the sorted list of all names in all splits.
func (v *vocReader) number() {
	v.set.Classes = slices.Sorted(maps.Keys(v.classes))
	for i := range v.set.Classes {
		v.set.Numbers = append(v.set.Numbers, int64(i))
	}
	for i, names := range v.names {
		p := &v.set.Pictures[i]
		p.ID = int64(i)
		for k, name := range names {
			p.Objects[k].Class, _ = slices.BinarySearch(v.set.Classes, name)
		}
	}
}

// splits reads the lists of ImageSets/Main. If a picture is in the list trainval, but neither in train nor in
// val, it belongs to train.
func (v *vocReader) splits() error {
	index := map[string]int{}
	for i, p := range v.set.Pictures {
		index[stem(p.Name)] = i
	}
	files := slices.Clone(v.set.files.All)
	slices.SortFunc(files, func(a, b data.File) int { return strings.Compare(a.Name, b.Name) })
	for _, f := range files { // the lists are read in the order test, train, trainval, val
		if isSetList(f.Name) {
			b, err := f.Read()
			if err != nil {
				return problem.Advise("mend or remove it", "%s: %w", f.Name, err)
			}
			v.setList(f.Name, string(b), index)
		}
	}
	for i := range v.set.Pictures {
		if p := &v.set.Pictures[i]; p.Split == trainOrVal {
			p.Split = data.Train
		}
	}
	return nil
}

// trainOrVal is the split of pictures that only trainval.txt lists.
const trainOrVal data.Split = "trainval"

// setList reads one list. Each line has the name of a picture, which may be followed by 1.
func (v *vocReader) setList(file, text string, index map[string]int) {
	split, line := data.Split(stem(file)), 0
	listed := map[int]bool{}
	for row := range strings.Lines(strings.TrimPrefix(text, "\ufeff")) {
		line++
		fields := strings.Fields(row)
		if len(fields) == 0 {
			continue
		}
		i, ok := index[fields[0]]
		if !ok {
			v.add(file, line, "remove the line, or annotate the picture", "%s has no annotation",
				quote(fields[0]))
			continue
		}
		p := &v.set.Pictures[i]
		switch {
		case listed[i]:
			v.add(file, line, "remove the line", "%s is listed twice", quote(fields[0]))
		case split == trainOrVal && p.Split == data.Train: // the list train.txt was read before
		case split == data.Val && p.Split == trainOrVal, p.Split == "":
			p.Split = split
		default:
			v.add(file, line, "a picture is in one split only", "%s is in %s too", quote(fields[0]), p.Split)
		}
		listed[i] = true
	}
}
