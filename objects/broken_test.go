package objects

import (
	"errors"
	"maps"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/problem"
)

// vocSet returns the files of a VOC folder with one annotation.
func vocSet(xml string) map[string]string {
	return map[string]string{"JPEGImages/a.png": "@100x80", "Annotations/a.xml": xml}
}

// with returns files and one more file.
func with(files map[string]string, name, content string) map[string]string {
	files = maps.Clone(files)
	files[name] = content
	return files
}

// without returns files except one.
func without(files map[string]string, name string) map[string]string {
	files = maps.Clone(files)
	delete(files, name)
	return files
}

// cocoSet returns the files of a folder with one COCO document.
func cocoSet(document string) map[string]string {
	return map[string]string{"a.png": "@100x80", "boxes.json": document}
}

// broken are sets that Open refuses, with the text of the error after the spec.
var broken = []struct {
	kind  string
	files map[string]string
	want  string
}{
	{"voc", vocSet(xmlOf(bounds("cat", "9 1 5 4"))),
		`Annotations/a.xml:3: object "cat": xmax 5 is less than xmin 9; swap them`},
	{"voc", vocSet(xmlOf("\n" + bounds("cat", "1 9 5 4"))),
		`Annotations/a.xml:4: object "cat": ymax 4 is less than ymin 9; swap them`},
	{"voc", vocSet(xmlOf(bounds("cat", "1 2 3 4") + bounds("cat", "0.1 0.2 0.5 1"))),
		`Annotations/a.xml:4: object "cat": [0.1 0.2 0.5 1] are fractions of the picture; VOC's corners are pixels; ` +
			`multiply them by the picture's size`},
	{"voc", vocSet(xmlOf("<object><name>cat</name>\n<bndbox><xmin>1</xmin>\n<ymin>two</ymin></bndbox></object>")),
		`Annotations/a.xml:5: object "cat": ymin is "two"; write a number of pixels`},
	{"voc", vocSet(xmlOf("<object><name>cat</name>\n<bndbox><xmin>1</xmin><ymin>1</ymin></bndbox></object>")),
		`Annotations/a.xml:4: object "cat" has no xmax; write all four corners`},
	{"voc", vocSet(xmlOf(bounds("cat", "NaN 1 2 2"))),
		`Annotations/a.xml:3: object "cat": xmin is "NaN"; write a number of pixels`},
	{"voc", vocSet(xmlOf("<object><name>cat</name></object>")),
		`Annotations/a.xml:3: object "cat" has no box; write a bndbox, or remove the object`},
	{"voc", vocSet(xmlOf("<object><name>cat</name>\n<robndbox><cx>5</cx><angle>0.1</angle></robndbox></object>")),
		`Annotations/a.xml:4: object "cat" has a rotated box, which is not supported; write an upright bndbox around it`},
	{"voc", vocSet(xmlOf("<object><name>cat</name>\n<polygon><x1>5</x1></polygon></object>")),
		`Annotations/a.xml:4: object "cat" has a polygon and no box; write a bndbox around it`},
	{"voc", vocSet(xmlOf("<object><name>cat</name><bndbox/><bndbox/></object>")),
		`Annotations/a.xml:3: object "cat" has 2 boxes; write an object for each box`},
	{"voc", vocSet(xmlOf("<object><name> </name></object>")),
		`Annotations/a.xml:3: the object has no name; write the name of its class`},
	{"voc", vocSet(xmlOf(strings.Replace(bounds("cat", "1 1 2 2"), "<bndbox>", "<difficult>5</difficult><bndbox>", 1))),
		`Annotations/a.xml:3: difficult is "5"; write 0 or 1`},
	{"voc", vocSet("<annotation><size><width>wide</width></size></annotation>"),
		`Annotations/a.xml:1: the width of the picture is "wide"; write the picture's size in pixels`},
	{"voc", vocSet("<annotation><size><width>90</width><height>80</height></size></annotation>"),
		`Annotations/a.xml:1: the size of a.png is 90 x 80 here, and the file has 100 x 80 pixels; ` +
			`the annotations are of another picture, or it was resized`},
	{"voc", vocSet("<annotation>\n<object>"),
		`Annotations/a.xml:2: the XML is broken: unexpected EOF; write the file again, in UTF-8`},
	{"voc", vocSet("\n<html></html>"),
		`Annotations/a.xml:2: the root element is <html>, want <annotation>; write VOC's XML, or take the file away`},
	{"voc", vocSet(""), `Annotations/a.xml:1: the XML is broken: this is not an XML document with one root element; ` +
		`write the file again, in UTF-8`},
	{"voc", without(vocSet(xmlOf("")), "JPEGImages/a.png"),
		`Annotations/a.xml: its picture a is missing; put the picture next to it, or remove it`},
	{"voc", with(vocSet(xmlOf("")), "Annotations/more/a.xml", xmlOf("")),
		`Annotations/more/a.xml: a.png is a second annotation of Annotations/a.xml; remove one of them`},
	{"voc", with(vocSet(xmlOf("")), "ImageSets/Main/train.txt", "a\n\nb\n"),
		`ImageSets/Main/train.txt:3: "b" has no annotation; remove the line, or annotate the picture`},
	{"voc", with(vocSet(xmlOf("")), "ImageSets/Main/train.txt", "a\na\n"),
		`ImageSets/Main/train.txt:2: "a" is listed twice; remove the line`},
	{"voc", with(with(vocSet(xmlOf("")), "ImageSets/Main/train.txt", "a\n"), "ImageSets/Main/val.txt", "a\n"),
		`ImageSets/Main/val.txt:1: "a" is in train too; a picture is in one split only`},
	{"voc", map[string]string{"JPEGImages/a.png": "@4x4"},
		`there is no XML file with boxes; want Annotations, as in VOC's folders`},
	{"voc", with(vocSet("<annotation/>"), "JPEGImages/a.png", "not a picture"),
		`JPEGImages/a.png: this is not a JPEG, PNG, WebP, GIF, BMP, TIFF, PPM or PGM picture; mend or remove it`},

	{"coco", cocoSet(coco(`{"id": 1, "image_id": 7, "category_id": 3, "bbox": [9, 1, -4, 3]}`)),
		`boxes.json:4: bbox [9 1 -4 3] has a negative size; write x, y, width and height`},
	{"coco", cocoSet(coco(`{"id": 1, "image_id": 7, "category_id": 3, "bbox": [0.1, 0.1, 0.5, 0.5]}`)),
		`boxes.json:4: bbox [0.1 0.1 0.5 0.5] has fractions of the picture; COCO's are pixels; ` +
			`multiply them by the picture's size`},
	{"coco", cocoSet(coco(`{"id": 1, "image_id": 7, "category_id": 3, "segmentation": [[1, 2, 3, 4, 5, 6]]}`)),
		`boxes.json:4: the annotation has a polygon and no box; write its bbox`},
	{"coco", cocoSet(coco(`{"id": 1, "image_id": 7, "category_id": 3}`)),
		`boxes.json:4: the annotation has no box; write its bbox, or remove it`},
	{"coco", cocoSet(coco(`{"id": 1, "image_id": 7, "category_id": 3, "bbox": [5, 5, 4, 4, 0.3]}`)),
		`boxes.json:4: bbox has 5 numbers: a rotated box, which is not supported; write an upright bbox around it`},
	{"coco", cocoSet(coco(`{"id": 1, "image_id": 7, "category_id": 3, "bbox": [5, 5, 4]}`)),
		`boxes.json:4: bbox has 3 numbers, want 4; write x, y, width and height`},
	{"coco", cocoSet(coco(`{"id": 1, "image_id": 7, "category_id": 3, "bbox": "none"}`)),
		`boxes.json:4: entry 0 of annotations: bbox is a JSON string; write the type that COCO has`},
	{"coco", cocoSet(coco("{\"id\": 1, \"image_id\": 7, \"category_id\": 3, \"bbox\": [1, 1, 1, 1]},\n" +
		`{"id": 2, "image_id": 7, "category_id": 2, "bbox": [1, 1, 1, 1]}`)),
		`boxes.json:5: there is no category with the id 2; add the category, or correct the number`},
	{"coco", cocoSet(coco(`{"id": 1, "image_id": 8, "category_id": 3, "bbox": [1, 1, 1, 1]}`)),
		`boxes.json:4: there is no image with the id 8; add the image, or remove the annotation`},
	{"coco", cocoSet(coco("{\"id\": 1, \"image_id\": 7, \"category_id\": 3, \"bbox\": [1, 1, 1, 1]},\n" +
		`{"id": 1, "image_id": 7, "category_id": 3, "bbox": [1, 1, 1, 1]}`)),
		`boxes.json:5: annotation 1 is in line 4 too; give each a number`},
	{"coco", cocoSet(coco(`{"id": 1, "image_id": 7, "category_id": 3, "bbox": [1, 1, 1, 1], "iscrowd": 2}`)),
		`boxes.json:4: iscrowd is 2; write 0 or 1`},
	{"coco", cocoSet(coco(`{"id": 1, "category_id": 3, "bbox": [1, 1, 1, 1]}`)),
		`boxes.json:4: the annotation has no image_id or no category_id; write both`},
	{"coco", cocoSet(strings.Replace(coco(""), `}],`, `}, {"id": 7, "file_name": "b.png", "width": 1, "height": 1}],`, 1)),
		`boxes.json:1: two images have the id 7; give each a number`},
	{"coco", cocoSet(strings.Replace(coco(""), `}],`, `}, {"id": 8, "file_name": "a.png", "width": 100, "height": 80}],`, 1)),
		`boxes.json:1: two images have the file "a.png"; join their annotations`},
	{"coco", cocoSet(strings.Replace(coco(""), `"id": 1, "name": "cat"`, `"id": 3, "name": "cat"`, 1)),
		`boxes.json:2: categories "dog" and "cat" have the id 3; give each a number`},
	{"coco", cocoSet(strings.Replace(coco(""), `"width": 100`, `"width": 0`, 1)),
		`boxes.json:1: image 7 is 0 x 80 pixels; write the picture's size in pixels`},
	{"coco", without(cocoSet(coco("")), "a.png"),
		`boxes.json:1: "a.png" is missing; put the pictures next to the annotations`},
	{"coco", cocoSet("[1, 2]"), `boxes.json:1: this is not a JSON object; ` +
		`a list contains detections: write a COCO document with images, annotations and categories`},
	{"coco", cocoSet(coco("\n\n{]")), `boxes.json:6: the JSON is broken: invalid character ']' looking for beginning of ` +
		`object key string; write the file again`},
	{"coco", cocoSet(`{"images": [], "annotations": []}`),
		`boxes.json: the document has no "categories"; write a COCO document with images, annotations and categories`},
	{"coco", map[string]string{"train/a.png": "@100x80", "train/_annotations.coco.json": coco(""), "valid/a.png": "@100x80",
		"valid/_annotations.coco.json": strings.Replace(coco(""), "dog", "cow", 1)},
		`valid/_annotations.coco.json: the categories cat, cow differ from those of train/_annotations.coco.json: ` +
			`cat, dog; give all splits the same categories`},

	{"yolo", yolo("0 0.5 0.5 0.2 0.2\n2 0.5 0.5 0.2 0.2\n"),
		`labels/train/a.txt:2: class 2: there are 0 to 1; add its name to data.yaml, or correct it`},
	{"yolo", yolo("0 50 0.5 0.2 0.2\n"), `labels/train/a.txt:1: the centre x is 50; YOLO has fractions of the ` +
		`picture, and these seem to be pixels; divide it by the picture's size`},
	{"yolo", yolo("0 0.5 0.5 0.2 -0.2\n"),
		`labels/train/a.txt:1: the height is -0.2; write centre x, centre y, width and height`},
	{"yolo", yolo("0 0.5 0.5 0.2\n"), `labels/train/a.txt:1: 4 fields, want 5; write class, centre x, centre y, width and height`},
	{"yolo", yolo("0 0.5 0.5 0.2 0.2 0.9\n"),
		`labels/train/a.txt:1: 6 fields, want 5: these seem to be detections; remove the confidence`},
	{"yolo", yolo("0 0.1 0.1 0.2 0.1 0.2 0.2 0.1 0.2\n"), `labels/train/a.txt:1: 9 fields, want 5: ` +
		`a rotated box or a polygon, which is not supported; write upright boxes`},
	{"yolo", yolo("0 0.1 0.1 0.2 0.1 0.2 0.2\n"),
		`labels/train/a.txt:1: 7 fields, want 5: a polygon and no box; write the box around it`},
	{"yolo", yolo("cat 0.5 0.5 0.2 0.2\n"),
		`labels/train/a.txt:1: the class is "cat"; write the index of the class, from 0`},
	{"yolo", yolo("0 x 0.5 0.2 0.2\n"), `labels/train/a.txt:1: the centre x is "x"; write a number`},
	{"yolo", with(yolo(""), "labels/train/c.txt", ""),
		`labels/train/c.txt: its picture "c" is missing; add the picture, or remove it`},
	{"yolo", with(yolo(""), "images/train/a.txt", ""),
		`labels/train/a.txt: images/train/a.txt is a second annotation of a.png; remove one of them`},
	{"yolo", with(yolo(""), "images/train/a.ppm", "P6 1 1 255 123"),
		`labels/train/a.txt: it belongs to images/train/a.png and to images/train/a.ppm; give the pictures other names`},
	{"yolo", with(yolo(""), "data.yaml", "names: [cat, dog]\nnc: 3\n"),
		`data.yaml: nc is 3, and names has 2 classes; correct one of them`},
	{"yolo", with(yolo(""), "data.yaml", "names:\n  0: cat\n  2: dog\n"),
		`data.yaml:1: names has 2 classes, and class 1 is missing; number the classes from 0`},
	{"yolo", with(yolo(""), "data.yaml", "names: [cat, cat]\n"),
		`data.yaml:1: class 1 is called "cat", as another or not at all; give each class a name of its own`},
	{"yolo", with(yolo(""), "data.yaml", "names: [cat]\n\ntrain: picture\n"),
		`data.yaml:3: train is "picture", and there is no picture; correct the path`},
	{"yolo", with(yolo(""), "data.yaml", "train: images\nnames: [cat\n"), `data.yaml:2: the YAML is broken: ` +
		`sequence end token ']' not found; write path, train, val and names, as in data.yaml of YOLO`},
	{"yolo", with(yolo(""), "data.yaml", "names: "+strings.Repeat("[", 60000)), `data.yaml: the YAML is broken: ` +
		`lists in lists; data.yaml has none; write path, train, val and names, as in data.yaml of YOLO`},
	{"yolo", with(yolo(""), "data.yaml", "train: images\n"),
		`data.yaml: it has no names of classes; write path, train, val and names, as in data.yaml of YOLO`},
	{"yolo", with(with(yolo(""), "data.yaml", "names: [a, b]\nval: v.txt\n"), "v.txt", "images/train/a.png\nimages/z.png\n"),
		`v.txt:2: the picture "images/z.png" is missing; remove the line, or add the picture`},
	{"yolo", without(yolo(""), "data.yaml"),
		`there are 0 YAML files with the names of classes; write one data.yaml with names: [cat, dog]`},

	{"csv", table("a.png,9,1,5,4,cat\n"), `boxes.csv:2: x2 5 is less than x1 9; swap them`},
	{"csv", table("a.png,1,9,5,4,cat\n"), `boxes.csv:2: y2 4 is less than y1 9; swap them`},
	{"csv", table("a.png,1,2,3,4,cat\na.png,0.1,0.2,0.5,1,cat\n"), `boxes.csv:3: [0.1 0.2 0.5 1] are fractions of the ` +
		`picture; corners are pixels; multiply them by the picture's size`},
	{"csv", table("a.png,1,2,3,wide,cat\n"), `boxes.csv:2: column y2 is "wide"; write a number of pixels`},
	{"csv", table("a.png,1,2,NaN,4,cat\n"), `boxes.csv:2: column x2 is "NaN"; write a number of pixels`},
	{"csv", table("a.png,1,,3,4,cat\n"), `boxes.csv:2: column y1 is ""; write a number of pixels`},
	{"csv", table("a.png,1,2,3,4,\n"), `boxes.csv:2: the box has no label; write the class of the box`},
	{"csv", table(",1,2,3,4,cat\n"), `boxes.csv:2: the row has no path; name the file of the picture`},
	{"csv", table("b.png,1,2,3,4,cat\nb.png,1,2,3,4,dog\n"),
		`boxes.csv:2: the picture "b.png" is missing; put the pictures next to the table`},
	{"csv", table("a.png,1,2,3,4\n"), `boxes.csv: line 2 has 5 columns, the first line 6; write a row for each box: ` +
		`path, x1, y1, x2, y2, label`},
	{"csv", with(table(""), "boxes.csv", "path,label\na.png,cat\n"),
		`boxes.csv:1: there are no columns of corners; write the columns path, x1, y1, x2, y2, label`},
	{"csv", with(table(""), "boxes.csv", "file,x1,y1,x2,y2,what\na.png,1,2,3,4,cat\n"),
		`boxes.csv:1: there is no column of paths or of labels; write the columns path, x1, y1, x2, y2, label`},
	{"csv", with(table(""), "boxes.csv", "file,x1,y1,x2,y2,class,split\na.png,1,2,3,4,cat,train\na.png,1,2,3,4,cat,val\n"),
		`boxes.csv:3: a.png is in "val" here, and in "train" in line 2 of boxes.csv; a picture is in one split only`},
	{"csv", with(table(""), "boxes.csv", "file,x1,y1,x2,y2,class,split\na.png,1,2,3,4,cat,all\n"),
		`boxes.csv:2: column split is "all"; write train, val or test`},
	{"csv", with(table(""), "boxes.csv", "file,width,height,xmin,ymin,xmax,ymax,class\na.png,90,80,1,2,3,4,cat\n"),
		`boxes.csv:2: the size of a.png is 90 x 80 here, and the file has 100 x 80 pixels; ` +
			`the annotations are of another picture, or it was resized`},
	{"csv", with(table(""), "boxes.csv", "file,width,height,xmin,ymin,xmax,ymax,class\na.png,0,80,1,2,3,4,cat\n"),
		`boxes.csv:2: column width is "0"; write the picture's size in pixels`},
	{"csv", map[string]string{"a.png": "@4x4"}, `there is no table with boxes; name a CSV file with the columns path, ` +
		`x1, y1, x2, y2, label`},
}

func TestBrokenSets(t *testing.T) {
	for _, c := range broken {
		spec := c.kind + ":" + write(t, c.files)
		s, err := Open(t.Context(), spec, Options{})
		if err == nil {
			t.Errorf("%v: opened, want %s", s.Pictures, c.want)
			continue
		}
		if got := strings.TrimPrefix(err.Error(), spec+": "); got != c.want {
			t.Errorf("\n got %s\nwant %s", got, c.want)
		}
		if problem.IsMisuse(err) {
			t.Errorf("%v: a misuse", err)
		}
	}
	if len(broken) < 40 {
		t.Errorf("%d sets, want 40", len(broken))
	}
}

// One error reports all faults of a set.
func TestAllFaultsAreReported(t *testing.T) {
	spec := "yolo:" + write(t, yolo(strings.Repeat("0 0.5 0.5 0.2 -0.2\n", 30)))
	_, err := Open(t.Context(), spec, Options{})
	var f *Faults
	if !errors.As(err, &f) || len(f.All) != 30 {
		t.Fatalf("%v", err)
	}
	for _, want := range []string{"30 annotations are broken:", "labels/train/a.txt:20: ", "and 10 more"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

func TestSpecs(t *testing.T) {
	for _, spec := range []string{"", "voc", "voc:", "boxes:x", "coco:@val"} {
		if _, err := Open(t.Context(), spec, Options{}); !problem.IsMisuse(err) {
			t.Errorf("%q: %v", spec, err)
		}
	}
	s := open(t, "yolo:"+write(t, yolo("0 0.5 0.5 0.2 0.2\n")))
	val, err := s.Select("val")
	if err != nil {
		t.Fatal(err)
	}
	const empty = "none of 1 picture in val has a box"
	if err := val.CheckObjects(); err == nil || !strings.Contains(err.Error(), empty) {
		t.Errorf("%v", err)
	}
	if _, err := s.Select("test"); err == nil || !strings.Contains(err.Error(), "none of 2 pictures is in test") {
		t.Errorf("%v", err)
	}
}
