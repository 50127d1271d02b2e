package rank

import (
	"os"
	"strings"

	"github.com/bnctl/bnctl/device/fabric/launcher"
	"github.com/bnctl/bnctl/problem"
)

// These are the libraries of the two families, with the names that distributions and vendors use.
var (
	openMPI = []string{"libmpi.so.40", "libmpi.so.80", "libmpi.so"}
	mpich   = []string{"libmpich.so.12", "libmpi.so.12", "libmpi_mpich.so.12", "libmpich.so"}
)

// libraries returns the names of the libraries to try. The launcher's family comes first.
func libraries() []string {
	if isOpenMPI() {
		return openMPI
	}
	return mpich
}

// isOpenMPI reports whether the environment was set by Open MPI's mpirun, or by a launcher that uses
// PMIx, as Open MPI does.
func isOpenMPI() bool {
	switch {
	case os.Getenv("OMPI_COMM_WORLD_SIZE") != "":
		return true
	case os.Getenv("PMI_FD") != "" || os.Getenv("PMI_PORT") != "" || os.Getenv("PALS_RANKID") != "":
		return false
	case os.Getenv("SLURM_MPI_TYPE") != "":
		return strings.HasPrefix(os.Getenv("SLURM_MPI_TYPE"), "pmix")
	}
	return os.Getenv("PMIX_RANK") != "" || os.Getenv("PMI_RANK") == ""
}

// checkSize returns an error if a library has not found the launcher. Each rank would be alone.
func checkSize(name string, got int) error {
	if _, want := launcher.Rank(); want > 0 && want != got {
		return problem.Advise("start with its own, or name the right one: {fabric} mpi:PATH",
			"%s sees %d rank(s), and the launcher has started %d: it belongs to another launcher", name, got, want)
	}
	return nil
}
