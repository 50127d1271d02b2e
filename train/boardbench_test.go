package train

import (
	"github.com/bnctl/bnctl/recipe"
	"testing"
)

// BenchmarkBoardStep writes the event of a step.
func BenchmarkBoardStep(b *testing.B) {
	board, err := OpenBoard(b.TempDir(), nil)
	if err != nil {
		b.Fatal(err)
	}
	defer board.Close()
	board.Show(Started{Recipe: recipe.Default("resnet20")})
	share := []DeviceShare{{Device: "cpu", Replicas: 8, Compute: 0.5}}
	for step := 1; b.Loop(); step++ {
		board.Show(Stepped{Step: step, Loss: 2, LR: 0.1, Throughput: 420, Devices: share})
	}
}
