package objects

import (
	"reflect"
	"testing"

	"github.com/bnctl/bnctl/data"
)

// Tables of other programs can be read: Roboflow's, with a table for each split, and keras-retinanet's,
// without a header and with a row for each picture without boxes. Classes with numbers as names are sorted as
// numbers.
func TestTablesOfOtherPrograms(t *testing.T) {
	roboflow := "filename,width,height,class,xmin,ymin,xmax,ymax\n"
	s := open(t, "csv:"+write(t, map[string]string{"train/a.png": "@100x80", "valid/a.png": "@50x40",
		"train/_annotations.csv": roboflow + "a.png,100,80,10,1,2,3,4\na.png,100,80,9,5,6,7,8\n",
		"valid/_annotations.csv": roboflow + "a.png,50,40,9,1,2,3,4\n"}))
	if !reflect.DeepEqual(s.Classes, []string{"9", "10"}) || len(s.Pictures) != 2 ||
		s.Pictures[0].Split != data.Train || s.Pictures[1].Split != data.Val {
		t.Fatalf("%v, %+v", s.Classes, s.Pictures)
	}
	p := s.Pictures[0]
	if len(p.Objects) != 2 || p.Objects[0].Class != 1 || p.Objects[1].Box != (Box{5, 6, 7, 8}) {
		t.Errorf("%+v", p)
	}
	folder := write(t, map[string]string{"images/a.png": "@100x80", "images/b.png": "@100x80",
		"boxes.csv": "/home/someone/images/a.png,1.5,2,3,4,cat\n/home/someone/images/b.png,,,,,\n"})
	s = open(t, "csv:"+folder+"/boxes.csv")
	if len(s.Pictures) != 2 || s.Pictures[0].Objects[0].Box.X1 != 1.5 || len(s.Pictures[1].Objects) != 0 {
		t.Errorf("%+v", s.Pictures)
	}
}

func TestHasBoxes(t *testing.T) {
	boxes := write(t, table("a.png,1,2,3,4,cat\n"))
	classes := write(t, map[string]string{"labels.csv": "path,label\na.png,cat\n",
		"six.csv": "a.png,cat,1,2,3,4\n", "empty.csv": ""})
	for spec, want := range map[string]bool{"csv:" + boxes: true, "csv:" + boxes + "/boxes.csv@val": true,
		"csv:" + classes: false, "csv:" + classes + "/labels.csv": false, "csv:" + classes + "/six.csv": false,
		"csv:" + classes + "/empty.csv": false, "csv:" + classes + "/none.csv": false, "coco:x": true, "voc:x": true,
		"voc": false, "shapes:4": false} {
		if got := HasBoxes(t.Context(), spec); got != want {
			t.Errorf("%s: %v, want %v", spec, got, want)
		}
	}
}
