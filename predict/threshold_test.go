package predict

import (
	"testing"

	"github.com/bnctl/bnctl/models"
)

// TestThresholdsOfProbabilities: answers are float32, so logits 40 and 39 both have probability 1. No
// threshold separates these two, and a precision of 1 cannot be reached. A threshold separates logits 3 and
// 1.
func TestThresholdsOfProbabilities(t *testing.T) {
	wish := &Wish{Least: 1}
	same := wish.threshold([]scored{{40, true}, {39, false}, {-2, true}})
	if v := float64(same.Threshold); v == v || float64(same.Precision) != 2.0/3 {
		t.Errorf("threshold %v of precision %v, want none, and 2/3 for the most", same.Threshold, same.Precision)
	}
	apart := wish.threshold([]scored{{3, true}, {1, false}, {-2, true}})
	want := (models.Sigmoid(3) + models.Sigmoid(1)) / 2
	if float64(apart.Threshold) != want || apart.Precision != 1 || apart.Recall != 0.5 {
		t.Errorf("%+v, want threshold %v, precision 1, recall 1/2", *apart, want)
	}
}
