package recipe

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"slices"

	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/problem"
)

// SetModel writes into r the identity of the model: its name, the checksum of
// its graph, and how pictures are resized.
func (r *Recipe) SetModel(m *models.Model) {
	sum := sha256.Sum256(m.Graph.Text())
	r.Model, r.Graph, r.Interpolation = m.Architecture, hex.EncodeToString(sum[:]), m.Preprocess.Interpolation
}

// SetData writes into r the identity of the training data and of the validation data, which may be
// nil. It reads all samples of both for their fingerprints. It resolves "best" in Save, "median",
// "balanced" and "auto" in ClassWeights, "balanced" in PosWeights, Sampling and the loss. If the
// classes of training and validation data differ the error is a *problem.Error.
func (r *Recipe) SetData(ctx context.Context, training, validation data.Source) error {
	if training == nil {
		return noData()
	}
	infos := []data.Info{training.Info()}
	var err error
	if r.Data, err = identify(ctx, training); err != nil {
		return err
	}
	switch r.ClassWeights {
	case medianWeights:
		r.ClassWeights, err = medianFrequencies(ctx, training)
	case balancedWeights:
		r.ClassWeights, err = balancedFrequencies(ctx, training)
	case autoWeights:
		if r.ClassWeights = ""; r.Sampling == "" {
			r.ClassWeights, err = autoFrequencies(ctx, training)
		}
	}
	if err != nil {
		return err
	}
	if err = r.setSampling(ctx, training); err != nil {
		return err
	}
	if err = r.setLoss(ctx, training); err != nil {
		return err
	}
	if r.Save == "best" {
		switch r.Save = "best:accuracy"; {
		case infos[0].Masks:
			r.Save = "best:miou"
		case infos[0].Boxes:
			r.Save = "best:ap50"
		case r.Loss != "":
			r.Save = "best:loss"
		}
	}
	if err = r.checkSave(infos[0].IsPerPixel()); err != nil {
		return err
	}
	r.Validation = Data{}
	if validation != nil {
		infos = append(infos, validation.Info())
		if _, err := Classed(training, validation); err != nil {
			return err
		}
		if r.Validation, err = identify(ctx, validation); err != nil {
			return err
		}
	}
	r.setDecoder(infos)
	return nil
}

// noData is the error of a run without data.
func noData() error {
	return problem.New("data", "", "there is nothing to train on", "give a data.Source, as data.Open returns it")
}

// setDecoder writes into r the decoder of picture files. Older recipes do not record that
// EXIF is ignored.
func (r *Recipe) setDecoder(infos []data.Info) {
	r.Decoder = ""
	for _, info := range slices.Backward(infos) {
		if info.Decoder == "" {
			continue
		}
		r.Decoder = info.Decoder
		if info.EXIF != (r.EXIF == data.ApplyEXIF) {
			r.EXIF = data.IgnoreEXIF
			if info.EXIF {
				r.EXIF = data.ApplyEXIF
			}
		}
	}
}

// identify returns the identity of s.
func identify(ctx context.Context, s data.Source) (Data, error) {
	info := s.Info()
	sum, err := s.Fingerprint(ctx)
	return Data{Kind: info.Kind, Split: string(info.Split), Samples: info.Len, Classes: len(info.Classes),
		Fingerprint: sum, Skipped: len(info.Skipped)}, err
}
