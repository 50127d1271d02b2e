package train

import (
	"context"
	"errors"
	"math"
	"slices"

	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/recipe"
	"github.com/bnctl/bnctl/tensor"
)

// FindLR raises the rate from lowestRate to highestRate in rangeSteps steps.
const (
	lowestRate  = 1e-5
	highestRate = 10
	rangeSteps  = 100
)

// rangeWindow is the number of steps before and after a step over which the loss is averaged; near
// the ends of the test there are fewer.
const rangeWindow = 5

// RateRange is the result of a learning-rate range test (Smith 2017, section 3.3).
type RateRange struct {
	Steps []RateStep `json:"steps"`
	// Suggested is the rate with the steepest fall of the smoothed loss, by the logarithm
	// of the rate, and at most a tenth of the rate of divergence, rounded to two digits.
	Suggested float64 `json:"suggested"`
	Steepest  float64 `json:"steepest"`
	Lowest    float64 `json:"lowest"`             // the rate with the lowest smoothed loss
	Diverged  float64 `json:"diverged,omitempty"` // 0: never
}

// RateStep is a step of a range test.
type RateStep struct {
	LR       float64 `json:"lr"`
	Loss     float64 `json:"loss"`     // loss of the step's batch before its update
	Smoothed float64 `json:"smoothed"` // mean over the steps around it
}

// FindLR trains m for a hundred steps and suggests a learning rate. The rate rises from 1e-5 to 10,
// by the same factor in every step, until the loss diverges. Batch, optimizer, weight decay,
// augmentation and the rest are from r, except for the schedule. Nothing is evaluated or written.
// FindLR returns an error if the loss does not fall at any rate.
func FindLR(ctx context.Context, r *recipe.Recipe, m *models.Model, c Config) (*RateRange, error) {
	recipe := *r
	recipe.LR, recipe.Schedule, recipe.Warmup = lowestRate, "constant", 0
	recipe.Epochs, recipe.Steps = 0, rangeSteps
	recipe.Save, recipe.Patience, recipe.EMA = "last", 0, 0
	recipe.BNPrecise, recipe.BNPrecisePlain = 0, false
	found, every := &RateRange{}, max(c.LogEvery, 1)
	events := c.Events
	c.LogEvery, c.Checkpoint, c.Validation = 1, "", nil
	c.Events = func(e Event) {
		s, ok := e.(Stepped)
		if ok {
			found.Steps = append(found.Steps, RateStep{LR: s.LR, Loss: s.Loss})
		}
		if events != nil && (!ok || s.Step%every == 0) {
			events(e)
		}
	}
	s, err := New(ctx, &recipe, m, c)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	recipe.Schedule = "rising to 10"
	s.plan.schedule = s.plan.schedule.Growing(tensor.Log(highestRate/lowestRate) / (rangeSteps - 1))
	if err := s.raise(ctx, found); err != nil {
		return nil, err
	}
	return found, found.judge()
}

// raise makes the steps, until the loss diverges.
func (s *Session) raise(ctx context.Context, found *RateRange) error {
	s.start()
	if _, err := s.checkpointer.take(ctx); err != nil { // to continue from if all devices are lost
		return err
	}
	loader, err := s.loader(ctx)
	if err != nil {
		return err
	}
	defer loader.Close()
	times := s.trainer.driver.Group().Times()
	epoch, log := newMeter(times), newMeter(times)
	for !s.done() && found.Diverged == 0 {
		rate := s.plan.schedule.Rate(s.trainer.progress.Step)
		err := s.advance(ctx, loader, &epoch, &log)
		var p *problem.Error
		switch {
		case err != nil && errors.As(err, &p) && p.Field == "lr": // numbers that are not finite
			found.Diverged = rate
		case err != nil:
			return err
		case found.diverges():
			found.Diverged = rate
		}
	}
	return nil
}

// diverges reports whether the last losses are far above the first.
func (f *RateRange) diverges() bool {
	n := len(f.Steps)
	return n > 2*rangeWindow && mean(f.Steps[n-rangeWindow:]) > 1.5*mean(f.Steps[:rangeWindow])
}

func mean(steps []RateStep) float64 {
	sum := 0.0
	for _, s := range steps {
		sum += s.Loss
	}
	return sum / float64(len(steps))
}

// judge smooths the losses and picks the rates.
func (f *RateRange) judge() error {
	n := len(f.Steps)
	for i := range f.Steps {
		around := min(rangeWindow, i, n-1-i)
		f.Steps[i].Smoothed = mean(f.Steps[i-around : i+around+1])
	}
	lowest, steepest, slope := 0, 0, 0.0
	for i, s := range f.Steps {
		if s.Smoothed < f.Steps[lowest].Smoothed {
			lowest = i
		}
	}
	for i := rangeWindow; i <= lowest && i+rangeWindow < n; i++ {
		if d := f.Steps[i+rangeWindow].Smoothed - f.Steps[i-rangeWindow].Smoothed; d < slope {
			steepest, slope = i, d
		}
	}
	if n == 0 || f.Steps[lowest].Smoothed > 0.95*f.Steps[0].Smoothed || slope == 0 {
		return problem.Failure("find-lr", "the loss falls at no rate from 1e-05 to 10", "look at data and labels "+
			"with data show, or use another {optimizer} or {batch}")
	}
	f.Steepest, f.Lowest = f.Steps[steepest].LR, f.Steps[lowest].LR
	f.Suggested = f.Steepest
	if f.Diverged > 0 {
		f.Suggested = min(f.Suggested, f.Diverged/10)
	}
	f.Suggested = twoDigits(f.Suggested)
	return nil
}

// twoDigits rounds v to two significant digits.
func twoDigits(v float64) float64 {
	scale := 1.0
	for v*scale < 10 {
		scale *= 10
	}
	return math.RoundToEven(v*scale) / scale
}

// sampled returns some of the steps, for people. rows is the maximum number. The last step is always
// one of them.
func (f *RateRange) sampled(rows int) []RateStep {
	var out []RateStep
	every := (len(f.Steps) + rows - 1) / rows
	for i, s := range f.Steps {
		if i%every == 0 || i == len(f.Steps)-1 {
			out = append(out, s)
		}
	}
	return slices.Clip(out)
}
