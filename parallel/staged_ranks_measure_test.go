package parallel

import (
	"sync"
	"testing"
	"time"

	"github.com/bnctl/bnctl/device/fabric"
	"github.com/bnctl/bnctl/internal/inprocess"
)

// TestAnyRankMeasures: if one rank wants layers to be measured, all ranks measure the
// layers of their stages.
func TestAnyRankMeasures(t *testing.T) {
	devices := newOwner(refs(t, 1), Config{})
	for _, wants := range []int{-1, 0, 1, 2} {
		var wait sync.WaitGroup
		for _, r := range inprocess.New(3) {
			wait.Go(func() {
				p := fabric.New(r, 20*time.Second)
				defer p.Close()
				all, err := newStageRanks(t.Context(), PipelineConfig{Peers: p, Measure: p.Rank() == wants}, devices)
				if err != nil || all.measure != (wants >= 0) {
					t.Errorf("rank %d wants it: on rank %d %v, %v", wants, p.Rank(), all, err)
				}
			})
		}
		wait.Wait()
	}
}
