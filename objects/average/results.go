package average

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/bnctl/bnctl/objects"
	"github.com/bnctl/bnctl/problem"
)

// result is an entry of COCO's results format.
type result struct {
	Image    name      `json:"image_id"`
	Category name      `json:"category_id"`
	Box      []float64 `json:"bbox"`
	Score    *float64  `json:"score"`
}

// name identifies a picture or a class: a JSON number, or a string.
type name string

// UnmarshalJSON implements json.Unmarshaler.
func (n *name) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] == '"' {
		return json.Unmarshal(b, (*string)(n))
	}
	if _, err := strconv.ParseInt(string(b), 10, 64); err != nil {
		return fmt.Errorf("%.40s is neither a whole number nor a string", b)
	}
	*n = name(b)
	return nil
}

// ReadResults reads detections in COCO's results format, a list of image_id, category_id, bbox
// and score. Pictures are identified by the number in the set, by the name of the file, or by that
// name without folder and extension. Classes are identified by number or by name.
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

// ambiguous is the index of a name that two pictures have.
const ambiguous = -1

// picturesOf returns the index of each picture by its names. A number comes before a file of that
// name.
func picturesOf(s *objects.Set) map[name]int {
	all := map[name]int{}
	for i, p := range s.Pictures {
		stem := strings.TrimSuffix(path.Base(p.Name), path.Ext(p.Name))
		for _, n := range slices.Compact([]string{p.Name, path.Base(p.Name), stem}) {
			at := i
			if _, twice := all[name(n)]; twice {
				at = ambiguous
			}
			all[name(n)] = at
		}
	}
	for i, p := range s.Pictures {
		all[name(strconv.FormatInt(p.ID, 10))] = i
	}
	return all
}

func classesOf(s *objects.Set) map[name]int {
	all := map[name]int{}
	for i, n := range s.Classes {
		all[name(n)] = i
	}
	for i, n := range s.Numbers {
		all[name(strconv.FormatInt(n, 10))] = i
	}
	return all
}

// detection checks an entry.
func (r result) detection(s *objects.Set, pictures, classes map[name]int) (d Detection, err error) {
	if r.Image == "" || r.Category == "" || r.Score == nil {
		return d, errors.New("image_id, category_id or score is missing")
	}
	picture, ok := pictures[r.Image]
	if !ok {
		return d, fmt.Errorf("%s has no picture %s", s.Spec, r.Image)
	}
	if picture == ambiguous {
		return d, fmt.Errorf("%s has several pictures %s", s.Spec, r.Image)
	}
	class, ok := classes[r.Category]
	if !ok {
		return d, fmt.Errorf("%s has no category %s", s.Spec, r.Category)
	}
	v := r.Box
	if len(v) != 4 || v[2] < 0 || v[3] < 0 || math.Max(math.Abs(v[0]), math.Abs(v[1])) > 1<<24 ||
		max(v[2], v[3]) > 1<<24 {
		return d, fmt.Errorf("bbox %v is not a box", v)
	}
	box := objects.Box{X1: v[0], Y1: v[1], X2: v[0] + v[2], Y2: v[1] + v[3]}
	return Detection{picture, class, box, *r.Score}, nil
}
