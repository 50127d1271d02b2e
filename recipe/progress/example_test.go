package progress_test

import (
	"fmt"

	"github.com/bnctl/bnctl/recipe/progress"
	"github.com/bnctl/bnctl/serialize"
)

// A checkpoint stores where its run found the data.
func ExamplePathsOf() {
	k := &serialize.Checkpoint{Progress: []byte(`{"progress":{"step":3},"paths":{"data":"mnist:FOLDER"}}`)}
	paths, err := progress.PathsOf(k)
	fmt.Println(paths.Data, err)
	// Output: mnist:FOLDER <nil>
}
