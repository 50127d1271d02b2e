package objects

import (
	"context"
	"errors"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/data/images"
	"github.com/bnctl/bnctl/internal/regular"
	"github.com/bnctl/bnctl/problem"
)

// maxDocument is the largest COCO file that is read. The training annotations of COCO 2017
// have 448 MB.
const maxDocument = 1 << 30

// openCOCO reads coco:FILE, or the documents of a folder or archive. Pictures are looked for in the folder of
// the file and, if that folder is named annotations, also in the folder that contains it.
func openCOCO(ctx context.Context, o *opening) error {
	if strings.EqualFold(filepath.Ext(o.path), ".json") && isFile(o.path) {
		return o.cocoFile(ctx)
	}
	err := o.list(ctx, o.path, func(name string) bool { return strings.EqualFold(path.Ext(name), ".json") })
	if err != nil {
		return err
	}
	documents := cocoDocuments(o.set.files.All)
	if len(documents) == 0 {
		return problem.Failure("", "there is no JSON file with annotations",
			"name the file, or call it instances_train.json or _annotations.coco.json")
	}
	c := &cocoReader{opening: o, pictures: o.byBase()}
	for _, f := range documents {
		b, err := f.Read()
		if err != nil {
			return problem.Advise("mend or remove it", "%s: %w", f.Name, err)
		}
		c.add(o.parseCOCO(f.Name, b))
	}
	return nil
}

// isFile reports whether path is a file. A folder may have a name with the extension of a file.
func isFile(path string) bool {
	if regular.RemoteOf(path) != nil {
		return true
	}
	info, err := os.Stat(path)
	return err == nil && !info.IsDir()
}

// cocoFile reads the single document coco:FILE.
func (o *opening) cocoFile(ctx context.Context) error {
	b, err := regular.Read(o.path, maxDocument)
	if err != nil {
		return err
	}
	folder := regular.Dir(o.path)
	absolute := folder
	if regular.RemoteOf(folder) == nil {
		if absolute, err = filepath.Abs(folder); err != nil {
			return err
		}
	}
	if filepath.Base(absolute) == "annotations" {
		folder = regular.Dir(absolute)
	}
	if !o.options.OnlyAnnotations {
		if err := o.list(ctx, folder, func(string) bool { return false }); err != nil {
			return err
		}
	}
	c := &cocoReader{opening: o, pictures: o.byBase()}
	c.add(o.parseCOCO(filepath.Base(o.path), b))
	return nil
}

// cocoDocuments returns the files that contain annotations: those with COCO's or Roboflow's
// names, or the only JSON file.
func cocoDocuments(files []data.File) []data.File {
	var documents, all []data.File
	for _, f := range files {
		if !strings.EqualFold(path.Ext(f.Name), ".json") {
			continue
		}
		all = append(all, f)
		name := path.Base(f.Name)
		if strings.HasPrefix(name, "instances_") || name == "_annotations.coco.json" {
			documents = append(documents, f)
		}
	}
	if len(all) == 1 {
		return all
	}
	return documents
}

// byBase returns the pictures by the last element of their names, without folders.
func (o *opening) byBase() map[string][]data.File {
	pictures := map[string][]data.File{}
	if o.set.files == nil {
		return pictures
	}
	for _, f := range o.set.files.All {
		if images.IsFileName(f.Name) {
			pictures[path.Base(f.Name)] = append(pictures[path.Base(f.Name)], f)
		}
	}
	return pictures
}

// cocoReader reads several documents into one set.
type cocoReader struct {
	*opening
	pictures map[string][]data.File
	first    string // file of the first document
}

// add adds the pictures and objects of a document.
func (c *cocoReader) add(d *cocoDocument) {
	if len(d.images) == 0 && len(d.objects) == 0 && len(d.categories) == 0 {
		return // a fault was added
	}
	classes := c.categories(d)
	if c.first != "" && !slices.Equal(classes.names, c.set.Classes) {
		c.faults.add(d.file, 0, "give all splits the same categories",
			"the categories %s differ from those of %s: %s", list(classes.names), c.first, list(c.set.Classes))
		return
	}
	c.first, c.set.Classes, c.set.Numbers = d.file, classes.names, classes.numbers
	images := c.images(d)
	ids := map[int64]int{}
	for _, o := range d.objects {
		c.object(d.file, o, images, classes, ids)
	}
}

// list joins at most eight names, for a message.
func list(names []string) string {
	const most = 8
	if len(names) > most {
		names = append(slices.Clone(names[:most]), "...")
	}
	return strings.Join(names, ", ")
}

// cocoClasses has the categories of a document, sorted by their numbers.
type cocoClasses struct {
	names   []string
	numbers []int64
}

func (c *cocoReader) categories(d *cocoDocument) (classes cocoClasses) {
	ids, names := map[int64]string{}, map[string]bool{}
	for _, category := range d.categories {
		switch {
		case category.ID == nil:
			c.faults.add(d.file, category.line, "give it a number", "category %s has no id", quote(category.Name))
			continue
		case category.Name == "":
			c.faults.add(d.file, category.line, "give it a name", "category %d has no name", *category.ID)
			continue
		}
		if name, twice := ids[*category.ID]; twice {
			c.faults.add(d.file, category.line, "give each a number", "categories %s and %s have the id %d",
				quote(name), quote(category.Name), *category.ID)
			continue
		}
		if names[category.Name] {
			c.faults.add(d.file, category.line, "join them", "two categories are called %s", quote(category.Name))
		}
		ids[*category.ID], names[category.Name] = category.Name, true
		classes.numbers = append(classes.numbers, *category.ID)
	}
	slices.Sort(classes.numbers)
	for _, n := range classes.numbers {
		classes.names = append(classes.names, ids[n])
	}
	return classes
}

// images adds the pictures of a document to the set, and returns their indices by id.
func (c *cocoReader) images(d *cocoDocument) map[int64]int {
	images, files := map[int64]int{}, map[string]bool{}
	split := documentSplit(d.file)
	for _, i := range d.images {
		switch {
		case i.ID == nil:
			c.faults.add(d.file, i.line, "give it a number", "image %s has no id", quote(i.FileName))
			continue
		case i.FileName == "":
			c.faults.add(d.file, i.line, "name its file", "image %d has no file_name", *i.ID)
			continue
		case i.Width <= 0 || i.Height <= 0 || i.Width > 1<<24 || i.Height > 1<<24:
			c.faults.add(d.file, i.line, "write the picture's size in pixels", "image %d is %d x %d pixels", *i.ID,
				i.Width, i.Height)
			continue
		}
		if _, twice := images[*i.ID]; twice {
			c.faults.add(d.file, i.line, "give each a number", "two images have the id %d", *i.ID)
			continue
		}
		if files[i.FileName] {
			c.faults.add(d.file, i.line, "join their annotations", "two images have the file %s", quote(i.FileName))
		}
		files[i.FileName] = true
		p := Picture{Name: i.FileName, ID: *i.ID, Width: i.Width, Height: i.Height, Split: split,
			file: d.file, line: i.line}
		images[*i.ID] = len(c.set.Pictures)
		c.file(&p)
		c.set.Pictures = append(c.set.Pictures, p)
	}
	return images
}

// file finds the file of the picture p.
func (c *cocoReader) file(p *Picture) {
	if c.options.OnlyAnnotations {
		return
	}
	f, err := chooseFile(c.pictures[path.Base(p.Name)], p)
	if err != nil {
		c.faults.add(p.file, p.line, "put the pictures next to the annotations", "%s %v", quote(p.Name), err)
		return
	}
	p.Name, p.read = f.Name, f.Read
}

// chooseFile returns the file of a picture among the files with its name. If there are several, their folders
// distinguish them. The folder may be in the path in the document, it may be the folder of the document, or
// it may have the name of the document: train2017 for instances_train2017.json.
func chooseFile(files []data.File, p *Picture) (data.File, error) {
	tests := []func(name string) bool{
		func(name string) bool { return name == path.Join(path.Dir(p.file), p.Name) },
		func(name string) bool {
			return strings.HasSuffix(path.Dir(name), strings.TrimPrefix(stem(p.file), "instances_"))
		},
		func(name string) bool { return name == p.Name || strings.HasSuffix(name, "/"+p.Name) },
		func(string) bool { return true },
	}
	for _, test := range tests {
		var found []data.File
		for _, f := range files {
			if test(f.Name) {
				found = append(found, f)
			}
		}
		if len(found) == 1 {
			return found[0], nil
		}
	}
	if len(files) == 0 {
		return data.File{}, errors.New("is missing")
	}
	return data.File{}, errors.New("is in several folders")
}

// documentSplit returns the split that the name of a document contains: train for
// train/_annotations.coco.json and for annotations/instances_train2017.json.
func documentSplit(file string) data.Split {
	name := strings.TrimRight(strings.TrimPrefix(stem(file), "instances_"), "0123456789")
	if split := data.SplitOfFolder(name); split != "" {
		return split
	}
	return folderSplit(file)
}

// object adds an annotation to its picture. ids maps the id of each annotation to its line.
func (c *cocoReader) object(file string, o cocoObject, images map[int64]int, classes cocoClasses,
	ids map[int64]int) {
	if o.ID != nil {
		if line, twice := ids[*o.ID]; twice {
			c.faults.add(file, o.line, "give each a number", "annotation %d is in line %d too", *o.ID, line)
			return
		}
		ids[*o.ID] = o.line
	}
	if o.ImageID == nil || o.CategoryID == nil {
		c.faults.add(file, o.line, "write both", "the annotation has no image_id or no category_id")
		return
	}
	picture, ok := images[*o.ImageID]
	if !ok {
		c.faults.add(file, o.line, "add the image, or remove the annotation", "there is no image with the id %d",
			*o.ImageID)
		return
	}
	class, ok := slices.BinarySearch(classes.numbers, *o.CategoryID)
	if !ok {
		c.faults.add(file, o.line, "add the category, or correct the number", "there is no category with the id %d",
			*o.CategoryID)
		return
	}
	if o.IsCrowd != 0 && o.IsCrowd != 1 {
		c.faults.add(file, o.line, "write 0 or 1", "iscrowd is %d", o.IsCrowd)
		return
	}
	box, ok := c.cocoBox(file, o)
	if !ok {
		return
	}
	object := Object{Box: box, Class: class, Area: box.Area(), Crowd: o.IsCrowd == 1, line: o.line}
	if o.Area != nil {
		object.Area = *o.Area
	}
	if object.Area < 0 {
		c.faults.add(file, o.line, "write square pixels", "the area is %v", object.Area)
		return
	}
	p := &c.set.Pictures[picture]
	p.Objects = append(p.Objects, object)
}
