package average

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"path"
	"strconv"
	"strings"

	"github.com/bnctl/bnctl/objects"
	"github.com/bnctl/bnctl/problem"
)

// result is an entry of COCO's results format.
type result struct {
	Image    name      `json:"image_id"`
	Category name      `json:"category_id"`
	Name     string    `json:"category_name"` // "" if the entry does not have this field
	Box      []float64 `json:"bbox"`
	Score    *float64  `json:"score"`
}

// name identifies a picture or a class: a whole number, or a text.
type name struct {
	text     string
	isNumber bool
}

// UnmarshalJSON implements json.Unmarshaler.
func (n *name) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] == '"' {
		return json.Unmarshal(b, &n.text)
	}
	v, err := strconv.ParseInt(string(b), 10, 64)
	if err != nil {
		return fmt.Errorf("%.40s is neither a whole number nor a string", b)
	}
	*n = name{strconv.FormatInt(v, 10), true}
	return nil
}

// ReadResults reads detections in COCO's results format, a list of entries with image_id, category_id, bbox
// and score. An entry names its picture by the name of the file, by that name without folder and extension,
// or by a number. The number is COCO's. In a set that is not COCO's, the number is the name of the file (5
// for 000005.jpg). An entry names its class by number or by name. If it has the field category_name, which
// predict writes, this name counts, because category_id is then the number of the class in the model.
func ReadResults(b []byte, s *objects.Set) ([]Detection, error) {
	const advice = `write [{"image_id": 1, "category_id": 1, "bbox": [x, y, width, height], "score": 0.9}, ...]`
	var entries []result
	if err := json.Unmarshal(b, &entries); err != nil {
		return nil, problem.Failure("", "these are not COCO results: "+err.Error(), advice)
	}
	pictures, classes := picturesOf(s), classesOf(s)
	all := make([]Detection, len(entries))
	for i, e := range entries {
		d, err := e.detection(s, pictures, classes)
		if err != nil {
			return nil, problem.Failure("", fmt.Sprintf("entry %d: %v", i, err), advice)
		}
		all[i] = d
	}
	return all, nil
}

// ambiguous is the index that is stored for a name of two pictures.
const ambiguous = -1

// names has the indices of pictures or classes by their numbers and texts.
type names struct{ numbers, texts map[string]int }

func newNames() names { return names{map[string]int{}, map[string]int{}} }

// find returns the index that belongs to a name. If a text is not a known name, it may be a number.
func (n names) find(x name) (index int, ok bool) {
	if index, ok = n.texts[x.text]; ok && !x.isNumber {
		return index, true
	}
	index, ok = n.numbers[x.text]
	return index, ok
}

// addTo adds an index to one of the maps.
func addTo(m map[string]int, key string, index int) {
	if was, twice := m[key]; twice && was != index {
		index = ambiguous
	}
	m[key] = index
}

func picturesOf(s *objects.Set) names {
	all := newNames()
	for i, p := range s.Pictures {
		stem := strings.TrimSuffix(path.Base(p.Name), path.Ext(p.Name))
		for _, text := range []string{p.Name, path.Base(p.Name), stem} {
			addTo(all.texts, text, i)
		}
		if s.HasNumbers() {
			addTo(all.numbers, strconv.FormatInt(p.ID, 10), i)
		} else if n, err := strconv.ParseUint(stem, 10, 63); err == nil {
			addTo(all.numbers, strconv.FormatUint(n, 10), i)
		}
	}
	return all
}

func classesOf(s *objects.Set) names {
	all := newNames()
	for i, n := range s.Classes {
		addTo(all.texts, n, i)
	}
	for i, n := range s.Numbers {
		addTo(all.numbers, strconv.FormatInt(n, 10), i)
	}
	return all
}

// detection checks an entry, and converts it to a detection.
func (r result) detection(s *objects.Set, pictures, classes names) (d Detection, err error) {
	if r.Image.text == "" || r.Category.text == "" || r.Score == nil {
		return d, errors.New("image_id, category_id or score is missing")
	}
	picture, ok := pictures.find(r.Image)
	if !ok {
		return d, fmt.Errorf("%s has no picture %s", s.Spec, r.Image.text)
	}
	if picture == ambiguous {
		return d, fmt.Errorf("%s has several pictures %s", s.Spec, r.Image.text)
	}
	category := r.Category
	if r.Name != "" {
		category = name{text: r.Name}
	}
	class, ok := classes.find(category)
	if !ok {
		return d, fmt.Errorf("%s has no category %s", s.Spec, category.text)
	}
	v := r.Box
	if len(v) != 4 || v[2] < 0 || v[3] < 0 || math.Max(math.Abs(v[0]), math.Abs(v[1])) > 1<<24 ||
		max(v[2], v[3]) > 1<<24 {
		return d, fmt.Errorf("bbox %v is not a box", v)
	}
	box := objects.Box{X1: v[0], Y1: v[1], X2: v[0] + v[2], Y2: v[1] + v[3]}
	return Detection{picture, class, box, *r.Score}, nil
}
