/* allreduce COMPUTE SMALL BYTES LARGE BYTES STEPS: what a step takes two processes that do nothing but compute, so many
   milliseconds of processor time, and add by Open MPI's own allreduce: so many small sums evenly between, and as many
   large ones in the second half, as a backward pass has them. It adds in an order of its own: the least that ranks cost.
   The prototypes are those of Open MPI's ABI, for its headers may not be there: gcc -O2 allreduce.c -l:libmpi.so.40 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

extern char ompi_mpi_comm_world, ompi_mpi_float, ompi_mpi_op_sum;
int MPI_Init(int *, char ***), MPI_Finalize(void), MPI_Comm_rank(void *, int *), MPI_Barrier(void *);
int MPI_Allreduce(const void *, void *, int, void *, void *, void *);

static double now(clockid_t clock) {
	struct timespec t;
	clock_gettime(clock, &t);
	return t.tv_sec * 1e3 + t.tv_nsec * 1e-6;
}

static volatile float sink;

static void compute(double ms) {
	float x = 1;
	for (double end = now(CLOCK_THREAD_CPUTIME_ID) + ms; now(CLOCK_THREAD_CPUTIME_ID) < end;)
		for (int i = 0; i < 20000; i++)
			x = x * 1.0001f + 0.5f;
	sink = x;
}

static void add(float *from, float *to, int n) {
	MPI_Allreduce(from, to, n, &ompi_mpi_float, &ompi_mpi_op_sum, &ompi_mpi_comm_world);
}

int main(int argc, char **argv) {
	if (argc != 7)
		return 2;
	double ms = atof(argv[1]), began = 0, used = 0;
	int small = atoi(argv[2]), bytes = atoi(argv[3]), large = atoi(argv[4]), more = atoi(argv[5]), steps = atoi(argv[6]), rank;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(&ompi_mpi_comm_world, &rank);
	float *from = calloc(large + 1, bytes + more), *to = calloc(large + 1, bytes + more);
	for (int step = -2; step < steps; step++) {
		if (step == 0) {
			MPI_Barrier(&ompi_mpi_comm_world);
			began = now(CLOCK_MONOTONIC), used = now(CLOCK_PROCESS_CPUTIME_ID);
		}
		for (int i = 0, done = 0, half = small / 2; i < small; i++) {
			compute(ms / small);
			add(from, to, bytes / 4);
			for (; i >= half && done < (i + 1 - half) * large / (small - half); done++)
				add(from + (size_t)done * (more / 4), to + (size_t)done * (more / 4), more / 4);
		}
	}
	if (rank == 0)
		printf("%g ms of computing, %d sums of %d bytes, %d of %d: %.0f ms per step, processor %.0f\n", ms, small, bytes,
		       large, more, (now(CLOCK_MONOTONIC) - began) / steps, (now(CLOCK_PROCESS_CPUTIME_ID) - used) / steps);
	return MPI_Finalize();
}
