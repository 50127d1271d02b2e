package recipe

import (
	"slices"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/models"
)

// TestFiguresOfATask: each figure is accepted for data that has it. For other data the error lists the
// figures that this data has.
func TestFiguresOfATask(t *testing.T) {
	tasks := []struct {
		r      Recipe
		isMask bool
		want   string
	}{
		{Recipe{Data: Data{Classes: 2}}, false, "accuracy loss balanced-accuracy f1 auroc"},
		{Recipe{Data: Data{Classes: 3}}, false, "accuracy loss balanced-accuracy f1"},
		{Recipe{Data: Data{Classes: 3}}, true, "miou accuracy loss balanced-accuracy f1"},
		{Recipe{Loss: "binary", Data: Data{Classes: 2}}, false, "loss accuracy f1 auroc exact"},
		{Recipe{Loss: "squared", TargetStd: []float64{1}}, false, "loss mae rmse r2"},
	}
	for _, c := range tasks {
		for _, figure := range models.Figures() {
			c.r.Save = "best:" + figure
			err := c.r.checkSave(c.isMask)
			if known := slices.Contains(strings.Fields(c.want), figure); known != (err == nil) {
				t.Errorf("%s of %s: %v", c.r.Save, c.want, err)
			}
			if err != nil && !strings.Contains(err.Error(), strings.ReplaceAll(c.want, " ", ", ")) {
				t.Errorf("%v does not list %s", err, c.want)
			}
		}
	}
	r := Default("lenet-bn")
	r.Data.Samples, r.Save = 10, "best:f2"
	if err := r.Check(); err == nil || !strings.Contains(err.Error(), "best:f1") {
		t.Errorf("%v", err)
	}
}
