package main

import (
	"context"
	"sync"

	"github.com/bnctl/bnctl/modelfile"
	"github.com/bnctl/bnctl/predict"
	"github.com/bnctl/bnctl/problem"
)

// prediction is one run of the command predict.
type prediction struct {
	path    string // path of the model
	inputs  []string
	output  string // file to write to; "": standard output
	format  string // json, csv, table or npy
	file    modelfile.Options
	answer  predict.AnswerOptions
	inner   []string // names of layers to use as outputs; nil: the outputs of the model
	options predict.Options
	fit     string // how pictures become inputs; "": the default of the format
	boxes   boxOptions
	whole   predict.Whole
	workers int
}

func (p *prediction) run(ctx context.Context, o *output) error {
	v, err := viewModel(o, p.path, p.file)
	if err != nil {
		return modelComesFirst(p.path, p.inputs, err)
	}
	defer v.Close()
	return v.OrDamage(p.predict(ctx, o, v))
}

// predict predicts all inputs. At the end it lists the inputs without a prediction.
func (p *prediction) predict(ctx context.Context, o *output, v *modelfile.ReadOnly) (err error) {
	whole := p.format == "npy" // an array has a row for every input, so no input is left out
	if v.Model, err = featured(v.Model, p.inner); err != nil {
		return err
	}
	src, err := predict.OpenInputs(ctx, v.Model, p.inputs, !whole, o.note)
	if err != nil {
		return err
	}
	defer src.Close()
	a, err := predict.NewAnswers(src.Model, p.answer)
	if err != nil {
		return err
	}
	if err := p.fitTo(a, src.Source); err != nil {
		return err
	}
	if err := p.checkFiles(o, a); err != nil {
		return err
	}
	predictor, err := openPredictor(ctx, o, src.Model, p.boxes.On(p.options, a, p.format, src),
		p.whole.Rows(src.Info().Len))
	if err != nil {
		return err
	}
	end := sync.OnceFunc(func() { _ = predictor.Close() }) // at the end, errors of devices do not matter
	defer end()
	reading := predict.Reading{Workers: p.workers, GoOn: !whole, Verify: v.Verify}
	failed, err := p.write(ctx, o, a, predictor, src.Source, reading)
	if err != nil {
		return err
	}
	if err := v.Verify(); err != nil { // if the file is damaged, warnings about the model mean nothing
		return err
	}
	var closing sync.WaitGroup
	closing.Go(end) // the processes of devices need some time to end
	warnOfModel(o, v.Model, p.path)
	closing.Wait()
	return problem.Unpredicted(append(src.Unopened, failed...), src.Info().Len+len(src.Unopened))
}
