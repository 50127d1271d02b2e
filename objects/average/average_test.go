package average

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/objects"
	"github.com/bnctl/bnctl/problem"
)

// golden is a case of testdata/golden.json, which golden.py writes with cocoapi.
type golden struct {
	Images     []int64 `json:"images"`
	Categories []int64 `json:"categories"`
	Truth      []struct {
		Image    int64      `json:"image_id"`
		Category int64      `json:"category_id"`
		Box      [4]float64 `json:"bbox"`
		Area     float64    `json:"area"`
		Crowd    int        `json:"iscrowd"`
	} `json:"truth"`
	Found   json.RawMessage `json:"found"`
	COCO    [12]float64     `json:"coco"`
	Classes [][3]float64    `json:"classes"`
	VOC     [][2]float64    `json:"voc"`
}

// set returns the set of a case. Its pictures are not in the order of their numbers.
func (g *golden) set() *objects.Set {
	s := &objects.Set{Spec: "coco:golden", Numbers: g.Categories, Classes: make([]string, len(g.Categories))}
	at := map[int64]int{}
	for k := range g.Images {
		id := g.Images[len(g.Images)-1-k]
		at[id] = k
		s.Pictures = append(s.Pictures, objects.Picture{ID: id})
	}
	class := map[int64]int{}
	for c, number := range g.Categories {
		class[number] = c
	}
	for _, t := range g.Truth {
		p := &s.Pictures[at[t.Image]]
		p.Objects = append(p.Objects, objects.Object{Class: class[t.Category], Area: t.Area, Crowd: t.Crowd == 1,
			Box: objects.Box{X1: t.Box[0], Y1: t.Box[1], X2: t.Box[0] + t.Box[2], Y2: t.Box[1] + t.Box[3]}})
	}
	return s
}

func readGolden(t testing.TB) (cases []golden) {
	t.Helper()
	b, err := os.ReadFile("testdata/golden.json")
	if err == nil {
		err = json.Unmarshal(b, &cases)
	}
	if err != nil || len(cases) != 24 {
		t.Fatal(len(cases), err)
	}
	return cases
}

func near(t *testing.T, name string, got, want float64) {
	t.Helper()
	if math.Abs(got-want) > 1e-9 || math.IsNaN(got) {
		t.Errorf("%s: %v, want %v", name, got, want)
	}
}

// COCO's figures equal the figures of cocodataset/cocoapi to 1e-9, and VOC's equal the figures of VOC's
// development kit.
func TestFiguresAreThoseOfTheirAuthors(t *testing.T) {
	for _, g := range readGolden(t) {
		s := g.set()
		all, err := ReadResults(g.Found, s)
		if err != nil {
			t.Fatal(err)
		}
		f := COCO(s, all)
		for i, got := range []float64{f.AP, f.AP50, f.AP75, f.APSmall, f.APMedium, f.APLarge, f.AR1, f.AR10,
			f.AR100, f.ARSmall, f.ARMedium, f.ARLarge} {
			near(t, "figure of COCO", got, g.COCO[i])
		}
		v := VOC(s, all)
		for c, want := range g.Classes {
			near(t, "AP of a class", f.Classes[c].AP, want[0])
			near(t, "AP50 of a class", f.Classes[c].AP50, want[1])
			near(t, "AR of a class", f.Classes[c].AR100, want[2])
			near(t, "VOC's AP50", v.Classes[c].AP50, g.VOC[c][0])
			near(t, "VOC's AP50 of 11 points", v.Classes[c].AP50Points, g.VOC[c][1])
		}
	}
}

// Difficult objects are neither hits nor misses, in COCO's and in VOC's figures.
func TestDifficult(t *testing.T) {
	box := func(x float64) objects.Box { return objects.Box{X1: x, Y1: 0, X2: x + 50, Y2: 50} }
	s := &objects.Set{Classes: []string{"cat"}, Numbers: []int64{0}, Pictures: []objects.Picture{{}}}
	s.Pictures[0].Objects = []objects.Object{{Box: box(0), Area: 2500},
		{Box: box(100), Area: 2500, Difficult: true}}
	all := []Detection{{Box: box(100), Score: 0.9}, {Box: box(0), Score: 0.8}}
	f, v := COCO(s, all), VOC(s, all)
	near(t, "AP", f.AP, 1)
	near(t, "AP50", v.AP50, 1)
	near(t, "AP50 of 11 points", v.AP50Points, 1)
	near(t, "F1", v.Classes[0].F1, 1)
	near(t, "threshold", v.Classes[0].Threshold, 0.8)
	if v.Classes[0].Objects != 1 || len(v.Classes[0].Curve) != 1 {
		t.Errorf("%+v", v.Classes[0])
	}
	all = append(all, Detection{Box: box(300), Score: 0.85})
	near(t, "AP50 with a miss", VOC(s, all).AP50, 0.5)
}

func TestWithoutObjects(t *testing.T) {
	s := &objects.Set{Classes: []string{"cat"}, Numbers: []int64{0}, Pictures: []objects.Picture{{}}}
	f, v := COCO(s, nil), VOC(s, nil)
	if f.AP != -1 || f.ARLarge != -1 || v.AP50 != -1 || v.Classes[0].AP50 != -1 {
		t.Errorf("%+v, %+v", f, v)
	}
}

func TestBrokenResults(t *testing.T) {
	s := &objects.Set{Spec: "coco:a.json", Classes: []string{"cat"}, Numbers: []int64{3},
		Pictures: []objects.Picture{{ID: 7}}}
	for text, want := range map[string]string{
		`{}`:                "these are not COCO results",
		`[{"image_id": 7}]`: "entry 0: image_id, category_id or score is missing",
		`[{"image_id": 8, "category_id": 3, "score": 1, "bbox": [1,1,1,1]}]`:  "entry 0: coco:a.json has no picture 8",
		`[{"image_id": 7, "category_id": 0, "score": 1, "bbox": [1,1,1,1]}]`:  "entry 0: coco:a.json has no category 0",
		`[{"image_id": 7, "category_id": 3, "score": 1, "bbox": [1,1,-1,1]}]`: "entry 0: bbox [1 1 -1 1] is not a box",
		`[{"image_id": 7, "category_id": 3, "score": 1, "bbox": [1,1,1]}]`:    "entry 0: bbox [1 1 1] is not a box",
	} {
		_, err := ReadResults([]byte(text), s)
		if err == nil || !strings.Contains(err.Error(), want) || problem.IsMisuse(err) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

// Results may identify pictures and classes by number or by name. In sets of VOC and YOLO the number of a
// picture is the name of its file, as detectors write it, and never the index of the picture in the set.
func TestNamesOfResults(t *testing.T) {
	pictures := []objects.Picture{{ID: 0, Name: "train/a.png"}, {ID: 1, Name: "train/b.png"},
		{ID: 2, Name: "val/b.png"}, {ID: 3, Name: "val/000001.png"}, {ID: 4, Name: "val/2.png"},
		{ID: 5, Name: "val/02.png"}}
	for _, spec := range []string{"voc:x", "yolo:x", "coco:x"} {
		want := map[string]int{`1`: 3, `"1"`: 3, `"a"`: 0, `"a.png"`: 0, `"val/b.png"`: 2, `"b"`: -1, `0`: -2,
			`2`: -1, `"02"`: 5, `5`: -2}
		if spec == "coco:x" {
			want[`1`], want[`"1"`], want[`0`], want[`2`], want[`5`] = 1, 1, 0, 2, 5
		}
		s := &objects.Set{Spec: spec, Classes: []string{"cat", "dog"}, Numbers: []int64{0, 1}, Pictures: pictures}
		for id, want := range want {
			text := `[{"image_id": ` + id + `, "category_id": "dog", "score": 1, "bbox": [1,1,1,1]}]`
			all, err := ReadResults([]byte(text), s)
			if want < 0 {
				message := map[int]string{-1: spec + " has several pictures", -2: spec + " has no picture"}[want]
				if err == nil || !strings.Contains(err.Error(), message) {
					t.Errorf("%s %s: %v, want %s", spec, id, err, message)
				}
				continue
			}
			if err != nil || all[0].Picture != want || all[0].Class != 1 {
				t.Errorf("%s %s: %v, %v, want picture %d", spec, id, all, err, want)
			}
		}
	}
}

// Each object and each detection is in at most one pair, with the detection or object that overlaps it most,
// whatever the classes. Crowds and difficult objects do not count.
func TestConfusion(t *testing.T) {
	at := func(x float64) objects.Box { return objects.Box{X1: x, X2: x + 10, Y2: 10} }
	s := &objects.Set{Classes: []string{"cat", "dog"}, Pictures: []objects.Picture{{Objects: []objects.Object{
		{Box: at(0)}, {Box: at(50), Class: 1}, {Box: at(100)}, {Box: at(150), Difficult: true},
		{Box: objects.Box{X1: 200, X2: 300, Y2: 100}, Crowd: true}}}, {}}}
	all := []Detection{
		{Box: at(2), Class: 1, Score: 0.9}, {Box: at(1), Class: 0, Score: 0.5}, // the second is nearer
		{Box: at(50), Class: 0, Score: 0.3}, {Box: at(100), Class: 0, Score: 0.2}, // too low a score
		{Box: at(150), Score: 0.9}, {Box: at(220), Score: 0.9}, {Picture: 1, Box: at(0), Class: 1, Score: 1}}
	got := fmt.Sprint(Confuse(s, all, 0.3, 0.5).Counts)
	if want := "[[1 0 1] [1 0 0] [0 2 0]]"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// Two detections agree if they overlap and have the same class. Detections with a low score count only in the
// figures of precision.
func TestAgree(t *testing.T) {
	at := func(x float64) objects.Box { return objects.Box{X1: x, X2: x + 10, Y2: 10} }
	s := &objects.Set{Classes: []string{"cat", "dog"}, Pictures: []objects.Picture{
		{Objects: []objects.Object{{Box: at(0), Area: 100}, {Box: at(50), Area: 100, Class: 1}}}, {}}}
	found := []Detection{{Box: at(0), Score: 0.9}, {Box: at(50), Score: 0.8},
		{Picture: 1, Box: at(0), Score: 0.3}, {Picture: 1, Box: at(80), Score: 0.2}}
	other := []Detection{{Box: at(1), Score: 0.9}, {Box: at(50), Class: 1, Score: 0.8},
		{Picture: 1, Box: at(0), Score: 0.29}}
	a := Agree(s, found, other, 0.3, 0.5)
	if a.Detections != 3 || a.Others != 2 || a.Agreeing != 1 || a.Fraction() != 0.4 {
		t.Errorf("%+v", a)
	}
	near(t, "AP50", a.AP50, 1)
	near(t, "difference of AP50", a.AP50Difference, -0.5) // the detector finds no dog
	if a := Agree(s, found, found, 0.3, 0.5); a.Fraction() != 1 || a.APDifference != 0 {
		t.Errorf("with itself: %+v", a)
	}
	if a := Agree(s, nil, nil, 0.3, 0.5); a.Fraction() != 1 {
		t.Errorf("without detections: %+v", a)
	}
}

// The field category_name has priority over category_id.
func TestCategoryName(t *testing.T) {
	s := &objects.Set{Spec: "coco:x", Classes: []string{"cat", "dog"}, Numbers: []int64{3, 9},
		Pictures: []objects.Picture{{ID: 7}}}
	form := `[{"image_id": 7, "category_id": 3, "category_name": %q, "score": 1, "bbox": [1,1,1,1]}]`
	all, err := ReadResults(fmt.Appendf(nil, form, "dog"), s)
	if err != nil || all[0].Class != 1 {
		t.Errorf("%v, %v", all, err)
	}
	if _, err = ReadResults(fmt.Appendf(nil, form, "cow"), s); err == nil ||
		!strings.Contains(err.Error(), "coco:x has no category cow") {
		t.Errorf("%v", err)
	}
}

func FuzzResults(f *testing.F) {
	f.Add([]byte(`[{"image_id": 7, "category_id": 3, "score": 1, "bbox": [1,1,1,1]}]`))
	s := &objects.Set{Spec: "coco:a.json", Classes: []string{"cat"}, Numbers: []int64{3}}
	cat := objects.Object{Box: objects.Box{X2: 9, Y2: 9}, Area: 81}
	s.Pictures = []objects.Picture{{ID: 7, Objects: []objects.Object{cat}}}
	f.Fuzz(func(t *testing.T, b []byte) {
		all, err := ReadResults(b, s)
		if err != nil {
			return
		}
		if ap := COCO(s, all).AP; !(ap >= 0 && ap <= 1) {
			t.Errorf("AP %v", ap)
		}
		if ap := VOC(s, all).AP50; !(ap >= 0 && ap <= 1+1e-9) {
			t.Errorf("AP50 %v", ap)
		}
	})
}

// VOCClass.Recalls has, for each recall, the highest precision at that recall or a higher one. The test
// computes it separately for each recall.
func TestRecalls(t *testing.T) {
	for _, g := range readGolden(t) {
		s := g.set()
		all, err := ReadResults(g.Found, s)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range VOC(s, all).Classes {
			var want []Point
			for hundredth := range 101 {
				var best Point
				for _, p := range c.Curve {
					if 100*p.hits >= hundredth*c.Objects && p.Precision > best.Precision {
						best = p
					}
				}
				if best.Precision > 0 {
					best.Recall = float64(hundredth) / 100
					want = append(want, Point{Recall: best.Recall, Precision: best.Precision, Score: best.Score})
				}
			}
			if !slices.Equal(c.Recalls, want) {
				t.Fatalf("%s: %v, want %v", c.Name, c.Recalls, want)
			}
		}
	}
}

// Judge pairs each object once, or reports it as missed. The counts of faults equal the counts in the
// confusion matrix.
func TestJudge(t *testing.T) {
	for _, g := range readGolden(t) {
		s := g.set()
		all, err := ReadResults(g.Found, s)
		if err != nil {
			t.Fatal(err)
		}
		want := Confuse(s, all, 0.3, 0.5).Counts
		background := len(s.Classes)
		var missed, invented, confused int
		for _, j := range Judge(s, all, 0.3, 0.5) {
			m, i, c := j.Faults(&s.Pictures[j.Picture])
			missed, invented, confused = missed+m, invented+i, confused+c
		}
		for i, row := range want {
			for k, n := range row {
				switch {
				case k == background:
					missed -= n
				case i == background:
					invented -= n
				case i != k:
					confused -= n
				}
			}
		}
		if missed != 0 || invented != 0 || confused != 0 {
			t.Fatal(missed, invented, confused)
		}
	}
}
