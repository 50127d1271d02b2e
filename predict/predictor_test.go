package predict_test

import (
	"reflect"
	"testing"

	"github.com/bnctl/bnctl/predict"
)

// A Predictor has no method of its driver that changes weights.
func TestPredictorOnlyPredicts(t *testing.T) {
	p := reflect.TypeFor[*predict.Predictor]()
	for _, name := range []string{"Step", "Commit", "Write", "State", "Snapshot", "Moments", "Group"} {
		if _, ok := p.MethodByName(name); ok {
			t.Errorf("a predictor has %s", name)
		}
	}
	for _, name := range []string{"Predict", "All", "Evaluate", "Rows", "Ahead", "Close"} {
		if _, ok := p.MethodByName(name); !ok {
			t.Errorf("a predictor has no %s", name)
		}
	}
}
