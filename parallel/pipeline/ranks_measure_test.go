package pipeline

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/bnctl/bnctl/device/fabric"
	"github.com/bnctl/bnctl/internal/inprocess"
	"github.com/bnctl/bnctl/parallel/step"
)

// TestAnyRankMeasures: if one rank wants layers to be measured, all ranks measure the
// layers of their stages.
func TestAnyRankMeasures(t *testing.T) {
	devices := deviceless{{Name: "one"}}
	for _, wants := range []int{-1, 0, 1, 2} {
		var wait sync.WaitGroup
		for _, r := range inprocess.New(3) {
			wait.Go(func() {
				p := fabric.New(r, 20*time.Second)
				defer p.Close()
				all, err := newStageRanks(t.Context(), Config{Peers: p, Measure: p.Rank() == wants}, devices)
				if err != nil || all.measure != (wants >= 0) {
					t.Errorf("rank %d wants it: on rank %d %v, %v", wants, p.Rank(), all, err)
				}
			})
		}
		wait.Wait()
	}
}

// deviceless is an owner that cannot open stages.
type deviceless []Device

func (o deviceless) Devices() []Device { return o }

func (o deviceless) Open(context.Context, Loading) (Stage, error) { return nil, step.NoDevices }
