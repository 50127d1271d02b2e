package train

import (
	"fmt"

	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/models/fit"
	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/recipe"
)

// takeData checks that recipe and model fit the run's data, and determines how its samples
// become the model's input.
func (p *plan) takeData() error {
	r, c := p.recipe, p.config
	if err := recipe.Fits(p.template, c.Train, c.Validation); err != nil {
		return err
	}
	if c.Validation != nil {
		named, err := recipe.Classed(c.Train, c.Validation)
		if err != nil {
			return err
		}
		p.config.Validation = named
	}
	if info := c.Train.Info(); info.Len != r.Data.Samples {
		return problem.New("data", info.Kind, fmt.Sprintf("it has %s, and the recipe is about %d",
			problem.Plural(info.Len, "sample"), r.Data.Samples), "call SetData on the recipe")
	}
	if err := data.CheckAugment(r.Augment, c.Train.Info()); err != nil {
		return problem.Wrap("augment", err)
	}
	if r.Decoder != "" { // the template reads pictures as this run does
		read := *p.template
		read.Preprocess.EXIF = r.EXIF == data.ApplyEXIF
		p.template = &read
	}
	p.transform = fit.Transform(p.template, c.Train.Info())
	p.transform.Augment = r.Augment
	return nil
}
