package objects

import "testing"

// checkObjects checks the guarantees of all readers: boxes are finite and not reversed, and every fault has
// a file and a text.
func checkObjects(t *testing.T, all []Object, found *faults) {
	for _, o := range all {
		if !o.Box.IsFinite() || o.Box.X2 < o.Box.X1 || o.Box.Y2 < o.Box.Y1 {
			t.Errorf("%+v", o)
		}
	}
	for _, f := range found.all {
		if f.File == "" || f.Text == "" || f.Line < 0 {
			t.Errorf("%+v", f)
		}
	}
}

func FuzzVOC(f *testing.F) {
	for _, c := range broken {
		if c.kind == "voc" {
			f.Add([]byte(c.files["Annotations/a.xml"]))
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var found faults
		a := found.parseVOC("a.xml", b)
		if len(a.names) != len(a.objects) {
			t.Errorf("%d names, %d objects", len(a.names), len(a.objects))
		}
		checkObjects(t, a.objects, &found)
	})
}

func FuzzCOCO(f *testing.F) {
	for _, c := range broken {
		if c.kind == "coco" {
			f.Add([]byte(c.files["boxes.json"]))
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		o := &opening{set: &Set{}, options: Options{OnlyAnnotations: true}}
		c := &cocoReader{opening: o, pictures: o.byBase()}
		c.add(o.parseCOCO("a.json", b))
		for _, p := range o.set.Pictures {
			checkObjects(t, p.Objects, &o.faults)
			for _, object := range p.Objects {
				if object.Class >= len(o.set.Classes) || object.Area < 0 {
					t.Errorf("%+v", object)
				}
			}
		}
	})
}

func FuzzYOLO(f *testing.F) {
	for _, c := range broken {
		if c.kind == "yolo" {
			f.Add(c.files["labels/train/a.txt"])
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		var found faults
		all := found.parseYOLO("a.txt", text, 2, 100, 80)
		checkObjects(t, all, &found)
	})
}

func FuzzDescription(f *testing.F) {
	for _, c := range broken {
		if c.kind == "yolo" {
			f.Add([]byte(c.files["data.yaml"]))
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var found faults
		d := found.parseDescription("data.yaml", b)
		if len(d.classes) == 0 && len(found.all) == 0 {
			t.Error("neither classes nor a fault")
		}
	})
}
