package fit

import (
	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/data/images"
	"github.com/bnctl/bnctl/models"
)

// Transform returns how samples of the described data become the input of m in evaluation.
// Arrays are not changed. Training adds the recipe's augmentation.
func Transform(m *models.Model, info data.Info) data.Transform {
	in := m.Input()
	if !info.Pictures() || len(in.Shape) != 3 {
		return data.Transform{}
	}
	return data.Transform{Height: in.Shape[0], Width: in.Shape[1], Channels: in.Shape[2],
		Letterbox: m.Preprocess.Letterbox, Resize: m.Preprocess.Resize,
		Filter: images.Filter(m.Preprocess.Interpolation)}
}
