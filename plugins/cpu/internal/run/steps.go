package run

import (
	"context"
)

// Run executes a function. When it returns nothing of it is in progress.
func (f *Frame) Run(fn *Function) error {
	ctx, cancel := context.WithCancel(f.ctx)
	defer cancel()
	f.ctx = ctx
	f.machine.Pool.KeepAwake()
	defer f.machine.Pool.LetSleep()
	err := f.runGroups(fn)
	if err != nil {
		cancel()
	}
	if exchangeErr := f.awaitAll(); err == nil {
		err = exchangeErr
	}
	if err == nil {
		f.addStored()
	}
	return err
}

func (f *Frame) runGroups(fn *Function) error {
	for _, v := range fn.copied {
		f.bringIn(v)
	}
	for _, v := range fn.turned {
		f.turnHeld(v)
	}
	for _, g := range fn.groups {
		if err := f.ctx.Err(); err != nil {
			return err
		}
		if err := f.runGroup(fn, g); err != nil {
			return err
		}
	}
	return nil
}

func (f *Frame) runGroup(fn *Function, g *group) error {
	if f.profile != nil {
		return f.profile.run(f, g, fn)
	}
	return g.run(f)
}
