package quantize

import (
	"strings"
	"testing"

	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/tensor"
)

// TestSeveralInputsAreRefused: the error for a model with several inputs names them and has
// a remedy.
func TestSeveralInputsAreRefused(t *testing.T) {
	m := &models.Model{Architecture: "two", Fields: []models.Field{{Name: "image", DType: tensor.F32, Shape: []int{3}},
		{Name: "state", DType: tensor.F32, Shape: []int{4}}}}
	_, err := prepare(m, nil)
	const want = "quantization needs a model with one input; model two has 2: image f32[3], state f32[4]; predict, " +
		"bench and serve run it in float32 as it is"
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v\nwant %s", err, want)
	}
}
