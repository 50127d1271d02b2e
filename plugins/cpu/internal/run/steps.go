package run

import (
	"context"
)

// Run executes a function. When it returns nothing of it is under way.
func (f *Frame) Run(fn *Function) error {
	ctx, cancel := context.WithCancel(f.Ctx)
	defer cancel()
	f.Ctx = ctx
	f.Pool.Attend()
	defer f.Pool.Leave()
	err := f.runGroups(fn)
	if err != nil {
		cancel()
	}
	if late := f.settle(); err == nil {
		err = late
	}
	return err
}

func (f *Frame) runGroups(fn *Function) error {
	for _, v := range fn.Copied {
		f.bringIn(v)
	}
	for _, g := range fn.Groups {
		if err := f.Ctx.Err(); err != nil {
			return err
		}
		if err := f.runGroup(fn, g); err != nil {
			return err
		}
	}
	return nil
}

func (f *Frame) runGroup(fn *Function, g *Group) error {
	if f.Profile != nil {
		return f.Profile.run(f, g, fn)
	}
	return g.run(f)
}
