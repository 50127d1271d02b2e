package objects

import (
	"math"
)

// cocoImage, cocoCategory and cocoObject are entries of a COCO document.
type (
	cocoImage struct {
		ID       *int64 `json:"id"`
		FileName string `json:"file_name"`
		Width    int    `json:"width"`
		Height   int    `json:"height"`
		line     int
	}
	cocoCategory struct {
		ID   *int64 `json:"id"`
		Name string `json:"name"`
		line int
	}
	cocoObject struct {
		ID           *int64    `json:"id"`
		ImageID      *int64    `json:"image_id"`
		CategoryID   *int64    `json:"category_id"`
		Box          []float64 `json:"bbox"`
		Area         *float64  `json:"area"`
		IsCrowd      int       `json:"iscrowd"`
		Segmentation presence  `json:"segmentation"`
		line         int
	}
)

// presence reports whether a field of the JSON has content. The content is not stored.
type presence bool

// UnmarshalJSON implements json.Unmarshaler.
func (p *presence) UnmarshalJSON(b []byte) error {
	*p = len(b) > 2 && string(b) != "null" // longer than [] and {}
	return nil
}

// cocoDocument is a COCO file, with its entries in the order of the file.
type cocoDocument struct {
	file       string
	images     []cocoImage
	categories []cocoCategory
	objects    []cocoObject
}

// parseCOCO reads a document. It adds a fault for each entry that does not have COCO's form.
func (f *faults) parseCOCO(file string, b []byte) *cocoDocument {
	d, j := &cocoDocument{file: file}, newJSONLines(b)
	if err := j.enter('{'); err != nil {
		advice := "write a COCO document with images, annotations and categories"
		if len(j.b) > 0 && j.b[0] == '[' {
			advice = "a list contains detections: " + advice
		}
		f.add(file, 1, advice, "this is not a JSON object")
		return d
	}
	seen := map[string]bool{}
	for j.dec.More() {
		line := j.next()
		key, err := j.key()
		if err == nil {
			if seen[key] {
				f.add(file, line, "join them", "the document has %s twice", quote(key))
			}
			seen[key] = true
			err = f.cocoField(d, j, key)
		}
		if err != nil {
			f.add(file, j.position(err), "write the file again", "the JSON is broken: %v", err)
			return d
		}
	}
	if _, err := j.dec.Token(); err != nil {
		f.add(file, j.position(err), "write the file again", "the JSON is broken: %v", err)
		return d
	}
	for _, key := range []string{"images", "annotations", "categories"} {
		if !seen[key] {
			f.add(file, 0, "write a COCO document with images, annotations and categories",
				"the document has no %s", quote(key))
		}
	}
	return d
}

// cocoField reads the value of a field of the document. It returns an error if the JSON is invalid.
func (f *faults) cocoField(d *cocoDocument, j *jsonLines, key string) error {
	switch key {
	case "images":
		return eachEntry(f, d.file, key, j, func(v cocoImage, line int) {
			v.line = line
			d.images = append(d.images, v)
		})
	case "categories":
		return eachEntry(f, d.file, key, j, func(v cocoCategory, line int) {
			v.line = line
			d.categories = append(d.categories, v)
		})
	case "annotations":
		return eachEntry(f, d.file, key, j, func(v cocoObject, line int) {
			v.line = line
			d.objects = append(d.objects, v)
		})
	}
	var ignored presence
	_, err := j.decode(&ignored)
	return err
}

// eachEntry reads a list of entries. If an entry has a value of another type, eachEntry adds a fault, and
// continues with the next entry.
func eachEntry[T any](f *faults, file, key string, j *jsonLines, use func(v T, line int)) error {
	if err := j.enter('['); err != nil {
		return err
	}
	for n := 0; j.dec.More(); n++ {
		var v T
		line := j.next()
		isBroken, err := j.decode(&v)
		if isBroken {
			return err
		}
		if err != nil {
			f.add(file, line, "write the type that COCO has", "entry %d of %s: %v", n, key, err)
			continue
		}
		use(v, line)
	}
	_, err := j.dec.Token()
	return err
}

// cocoBox returns the box with the x, y, width and height of an annotation. It adds a fault if they are not a
// box.
func (f *faults) cocoBox(file string, o cocoObject) (Box, bool) {
	b := o.Box
	switch {
	case len(b) == 0 && bool(o.Segmentation):
		f.add(file, o.line, "write its bbox", "the annotation has a polygon and no box")
	case len(b) == 0:
		f.add(file, o.line, "write its bbox, or remove it", "the annotation has no box")
	case len(b) == 5:
		f.add(file, o.line, "write an upright bbox around it",
			"bbox has 5 numbers: a rotated box, which is not supported")
	case len(b) != 4:
		f.add(file, o.line, "write x, y, width and height", "bbox has %d numbers, want 4", len(b))
	case math.Abs(b[0]) > 1<<24 || math.Abs(b[1]) > 1<<24 || b[2] > 1<<24 || b[3] > 1<<24:
		f.add(file, o.line, "write pixels", "bbox %v is larger than any picture", b)
	case b[2] < 0 || b[3] < 0:
		f.add(file, o.line, "write x, y, width and height", "bbox %v has a negative size", b)
	case isNormalised(b[0], b[1], b[0]+b[2], b[1]+b[3]):
		f.add(file, o.line, "multiply them by the picture's size",
			"bbox %v has fractions of the picture; COCO's are pixels", b)
	default:
		return Box{b[0], b[1], b[0] + b[2], b[1] + b[3]}, true
	}
	return Box{}, false
}
