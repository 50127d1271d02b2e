package main

import (
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/models/fit"
)

// noteOfPictures notes that the model m of a file will refuse pictures, if its input has
// the shape of pictures.
func noteOfPictures(o *output, path string, m *models.Model, command string) {
	if !fit.LacksPreprocessing(m) {
		return
	}
	o.note("%s accepts arrays %s, not pictures: it has no preprocessing for them. To change that, "+
		"%s again with --preprocess imagenet, unit, raw or caffe, or --mean and --std", path,
		m.Summary().Input, command)
}
