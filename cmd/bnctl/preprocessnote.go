package main

import (
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/models/fit"
)

// noteOfPictures writes a note if the input of the model has the shape of pictures, but the model does not
// define how pictures become this input, so that it will refuse them.
func noteOfPictures(o *output, path string, m *models.Model, command string) {
	if !fit.LacksPreprocessing(m) {
		return
	}
	o.note("%s accepts arrays %s, not pictures: it has no preprocessing for them. To change that, "+
		"%s again with --preprocess imagenet, unit, raw or caffe, or --mean and --std", path,
		m.Summary().Input, command)
}
