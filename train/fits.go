package train

import (
	"fmt"
	"slices"

	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/tensor"
)

// Fits refuses, before the first step, data that m cannot be trained or
// evaluated on: samples that are not its input, labels that are not classes
// of its first output.
func Fits(m *models.Model, info data.Info) error {
	if err := Takes(m, info); err != nil {
		return err
	}
	if !info.Labelled {
		return fmt.Errorf("the samples of %s have no labels", info.Kind)
	}
	f := m.Graph.Main
	out := f.Values[f.Outputs[0].Value].Type
	if len(out.Shape) == 0 {
		return fmt.Errorf("output %s of model %s is one number per sample; labels need classes",
			f.Outputs[0].Name, m.Architecture)
	}
	if want := out.Shape[1:]; !slices.Equal(info.LabelShape, want) {
		return fmt.Errorf("output %s of model %s is %v: a label has to be %s, those of %s are %s",
			f.Outputs[0].Name, m.Architecture, out, tensor.Describe(tensor.I32, want), info.Kind,
			tensor.Describe(tensor.I32, info.LabelShape))
	}
	if have := out.Shape[0]; len(info.Classes) > have {
		return fmt.Errorf("%s has %d classes, model %s tells %d apart; make a new head with --classes %d",
			info.Kind, len(info.Classes), m.Architecture, have, len(info.Classes))
	}
	return nil
}

// Takes refuses samples that cannot be the input of m. Pictures of any size
// can where the input is u8 [H,W,C]: they are scaled and cropped.
func Takes(m *models.Model, info data.Info) error {
	in := m.Input()
	wants := tensor.Describe(in.DType, in.Shape)
	switch {
	case info.Pictures() && (in.DType != tensor.U8 || len(in.Shape) != 3):
		return fmt.Errorf("the model takes arrays %s, the samples are pictures; give arrays as .npy", wants)
	case !info.Pictures() && (info.DType != in.DType || !slices.Equal(info.Shape, in.Shape)):
		return fmt.Errorf("the model takes %s, a sample of %s is %s", wants, info.Kind,
			tensor.Describe(info.DType, info.Shape))
	}
	return nil
}
