package study_test

import (
	"fmt"

	"github.com/bnctl/bnctl/cmd/bnctl/internal/study"
)

// The example prints the table of a study with two runs. Package cmd/bnctl/internal/study/experiment makes
// the runs.
func ExampleResults_Table() {
	r := study.Results{Seeds: []uint64{1}, Batch: 8, PerReplica: []int{4}}
	for arm, accuracy := range map[study.Arm]float64{study.Sync: 0.91, study.Replica: 0.9} {
		r.SetRun(study.Run{Setting: study.Setting{Arm: arm, PerReplica: 4, Replicas: 2}, Seed: 1,
			Scores: []study.Score{{Statistics: "pooled", Samples: 100, Accuracy: accuracy, Loss: 0.3}}})
	}
	for _, row := range r.Table() {
		fmt.Println(row.Arm, row.Statistics, row.Accuracy.Mean, "% over", row.Seeds, "seed")
	}
	// Output:
	// sync pooled 91 % over 1 seed
	// replica pooled 90 % over 1 seed
}
