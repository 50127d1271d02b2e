package recipe

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/data"
)

func TestSetModel(t *testing.T) {
	m := written(t, pixelGraph)
	m.Preprocess.Interpolation = "bicubic"
	var r, again Recipe
	r.SetModel(m)
	if r.Model != "pixels" || r.Interpolation != "bicubic" || len(r.Graph) != 64 {
		t.Errorf("model %q, interpolation %q, graph %q", r.Model, r.Interpolation, r.Graph)
	}
	again.SetModel(written(t, tableGraph))
	if again.Graph == r.Graph || again.Interpolation != "" {
		t.Errorf("two graphs have the fingerprint %s", r.Graph)
	}
}

// files is a source of samples in picture files.
func files(decoder string, exif bool, classes ...string) *painted {
	return &painted{info: data.Info{Kind: "folder", Split: data.Train, Len: 5, Decoder: decoder, EXIF: exif,
		Classes: classes, Skipped: make([]data.Bad, 2)}}
}

func TestSetData(t *testing.T) {
	want := Data{Kind: "folder", Split: "train", Samples: 5, Classes: 2, Skipped: 2}
	for _, c := range []struct {
		training, validation *painted
		exif                 string // EXIF of the recipe before SetData
		decoder, becomes     string
	}{
		{files("2", true, "a", "b"), nil, "", "2", "apply"},
		{files("2", false, "a", "b"), nil, "", "2", ""}, // as in older recipes
		{files("2", false, "a", "b"), nil, "apply", "2", "ignore"},
		{files("2", true, "a", "b"), nil, "ignore", "2", "apply"},
		{files("2", true, "a", "b"), files("2", true, "a", "b"), "", "2", "apply"},
		{files("", false, "a", "b"), nil, "", "", ""},
		{files("", false, "a", "b"), files("2", true, "a", "b"), "", "2", "apply"},
	} {
		r := Default("lenet-bn")
		r.EXIF, r.Decoder, r.Validation, r.Save = c.exif, "1", Data{Kind: "old"}, "best"
		var validation data.Source
		if c.validation != nil {
			validation = c.validation
		}
		if err := r.SetData(t.Context(), c.training, validation); err != nil {
			t.Fatal(err)
		}
		if r.Data != want || r.Decoder != c.decoder || r.EXIF != c.becomes || r.Save != "best:accuracy" {
			t.Errorf("%+v: data %+v, decoder %q, EXIF %q, save %s", c, r.Data, r.Decoder, r.EXIF, r.Save)
		}
		if wants := map[bool]Data{true: want}[c.validation != nil]; r.Validation != wants {
			t.Errorf("validation %+v, want %+v", r.Validation, wants)
		}
	}
	r := Default("lenet-bn")
	if err := r.SetData(t.Context(), files("", false, "a", "b"), files("", false, "a", "c")); err == nil ||
		!strings.Contains(err.Error(), "classes differ") {
		t.Errorf("other classes: %v", err)
	}
	if err := r.SetData(t.Context(), nil, nil); err == nil {
		t.Error("no data was taken")
	}
}

// unreadable is data that cannot be read.
type unreadable struct{ *painted }

func (unreadable) Fingerprint(context.Context) (string, error) { return "", errPlanted }
func (unreadable) Label(context.Context, int) ([]int32, error) { return nil, errPlanted }

func TestSetDataOfUnreadableData(t *testing.T) {
	sound := paint(2, []int32{0, 1})
	broken := unreadable{sound}
	r := Default("unet-bn")
	for _, sources := range [][2]data.Source{{broken, nil}, {sound, broken}} {
		if err := r.SetData(t.Context(), sources[0], sources[1]); !errors.Is(err, errPlanted) {
			t.Errorf("%v, want the error of the data", err)
		}
	}
	if text, err := medianFrequencies(t.Context(), broken); !errors.Is(err, errPlanted) {
		t.Errorf("weights %s, %v", text, err)
	}
}
