package launcher_test

import (
	"fmt"
	"os"

	"github.com/bnctl/bnctl/device/fabric/launcher"
)

// Rank in the second of four processes that mpirun has started. Without a launcher the size is 0.
func ExampleRank() {
	os.Setenv("OMPI_COMM_WORLD_RANK", "1")
	os.Setenv("OMPI_COMM_WORLD_SIZE", "4")
	defer os.Unsetenv("OMPI_COMM_WORLD_RANK")
	defer os.Unsetenv("OMPI_COMM_WORLD_SIZE")
	rank, size := launcher.Rank()
	fmt.Println("rank", rank, "of", size)
	// Output: rank 1 of 4
}
