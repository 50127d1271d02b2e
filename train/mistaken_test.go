package train

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/bnctl/bnctl/bn"
	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/parallel/weightsync"
	"github.com/bnctl/bnctl/recipe"
	"github.com/bnctl/bnctl/tensor"
)

var errPlanted = errors.New("planted")

// mistakes counts calls, and makes one of them fail.
type mistakes struct {
	mu    sync.Mutex
	calls []string
	at    int // number of the call that fails; negative: no call fails
}

func (m *mistakes) next(call string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.calls = append(m.calls, call)
	if len(m.calls)-1 == m.at {
		return fmt.Errorf("%s: %w", call, errPlanted)
	}
	return nil
}

// mistaken is a healthy device that answers one call with an error.
type mistaken struct {
	device.Device
	m *mistakes
}

func (d *mistaken) Load(ctx context.Context, p *graph.Program, c device.Capacity) (device.Executable, error) {
	if err := d.m.next("Load"); err != nil {
		return nil, err
	}
	exe, err := d.Device.Load(ctx, p, c)
	return &mistakenExe{exe, d.m}, err
}

type mistakenExe struct {
	device.Executable
	m *mistakes
}

func (e *mistakenExe) Grow(ctx context.Context, c device.Capacity) error {
	if err := e.m.next("Grow"); err != nil {
		return err
	}
	return e.Executable.Grow(ctx, c)
}

func (e *mistakenExe) WriteAll(ctx context.Context, names []string, state map[string]tensor.Tensor) error {
	if err := e.m.next("Write"); err != nil {
		return err
	}
	return e.Executable.WriteAll(ctx, names, state)
}

func (e *mistakenExe) Read(ctx context.Context, name string) (tensor.Tensor, error) {
	if err := e.m.next("Read"); err != nil {
		return tensor.Tensor{}, err
	}
	return e.Executable.Read(ctx, name)
}

func (e *mistakenExe) Run(ctx context.Context, s device.Step) (device.Outcome, error) {
	if err := e.m.next("Run " + s.Function); err != nil {
		return device.Outcome{}, err
	}
	return e.Executable.Run(ctx, s)
}

func (e *mistakenExe) Commit(ctx context.Context, v device.Version, h device.Hyper) error {
	if err := e.m.next("Commit"); err != nil {
		return err
	}
	return e.Executable.Commit(ctx, v, h)
}

// mistakenSource fails once to read sample 3.
type mistakenSource struct {
	data.Source
	reads atomic.Int64
	at    int64 // number of the read that fails, from 1; 0: no read fails
}

func (s *mistakenSource) Sample(ctx context.Context, i int) (tensor.Tensor, error) {
	if i == 3 && s.reads.Add(1) == s.at {
		return tensor.Tensor{}, fmt.Errorf("sample 3: %w", errPlanted)
	}
	return s.Source.Sample(ctx, i)
}

// mistaken trains to the end. Call m.at of the device fails, and the given reads of the samples for training
// and validation.
func (b *bench) mistaken(t *testing.T, m *mistakes, training, validation int64) error {
	c := b.config(1)
	c.Checkpoint = filepath.Join(t.TempDir(), "run.bnc")
	c.Train = &mistakenSource{Source: c.Train, at: training}
	c.Validation = &mistakenSource{Source: c.Validation, at: validation}
	c.Devices[0].Device = &mistaken{c.Devices[0].Device, m}
	s, err := New(context.Background(), &b.recipe, b.model(), c)
	if err != nil {
		return err
	}
	defer s.Close()
	_, err = s.Run(context.Background())
	return err
}

// An error of a device or of the data, at whatever call, ends the run with that error.
func TestNoErrorIsPassedOver(t *testing.T) {
	for name, change := range map[string]func(*recipe.Recipe){
		"sync":     func(r *recipe.Recipe) { r.Save, r.Validation = "best:loss", r.Data },
		"precise":  func(r *recipe.Recipe) { r.EMA, r.BNPrecise = 0.9, 20 },
		"template": func(r *recipe.Recipe) { r.WeightSync = weightsync.Template },
		"running":  func(r *recipe.Recipe) { r.BN, r.BNMin = bn.Replica, "running" },
		"late": func(r *recipe.Recipe) {
			r.BN, r.WeightSync, r.BNUpdate = bn.Replica, "async:1", "async:1"
		},
		"apart": func(r *recipe.Recipe) { r.BN, r.WeightSync, r.BNUpdate = bn.Replica, "periodic:3", bn.PostHoc },
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, 20)
			b.recipe.Batch = 10
			change(&b.recipe)
			peace := &mistakes{at: -1}
			if err := b.mistaken(t, peace, 0, 0); err != nil {
				t.Fatal(err)
			}
			for _, nth := range places(peace.calls) {
				if err := b.mistaken(t, &mistakes{at: nth}, 0, 0); !errors.Is(err, errPlanted) {
					t.Errorf("call %d of %d, %s: the run returned %v", nth, len(peace.calls), peace.calls[nth], err)
				}
			}
			for epoch := range int64(2) {
				for i, of := range [][2]int64{{epoch + 1, 0}, {0, epoch + 1}} {
					if err := b.mistaken(t, &mistakes{at: -1}, of[0], of[1]); !errors.Is(err, errPlanted) {
						t.Errorf("epoch %d, data %d: the run returned %v", epoch+1, i, err)
					}
				}
			}
		})
	}
}
