// A libcuda for tests, with one GPU. The GPU's memory is host memory. Only the kernel "fill" is
// executed, and other kernels do nothing. MODE selects a failure. A call without cuInit or without
// a current context ends the process.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int ready, contexts, sticky;
static __thread void *current;

static int mode(const char *m) { return !strcmp(MODE, m); }

static void need(void) {
	if (!ready || !current)
		abort();
}

int cuInit(unsigned flags) {
	ready = 1;
	return mode("no device") ? 100 : 0;
}

int cuDriverGetVersion(int *out) {
	*out = mode("old") ? 9000 : 12040;
	return 0;
}

int cuGetErrorName(int code, const char **out) {
	*out = code == 2 ? "CUDA_ERROR_OUT_OF_MEMORY" : code == 46 ? "CUDA_ERROR_DEVICE_UNAVAILABLE"
		: code == 100 ? "CUDA_ERROR_NO_DEVICE" : code == 214 ? "CUDA_ERROR_ECC_UNCORRECTABLE"
		: code == 218 ? "CUDA_ERROR_INVALID_PTX" : code == 700 ? "CUDA_ERROR_ILLEGAL_ADDRESS" : 0;
	return *out ? 0 : 1;
}

int cuGetErrorString(int code, const char **out) {
	*out = code == 2 ? "out of memory" : code == 46 ? "CUDA-capable device(s) is/are busy or unavailable"
		: code == 100 ? "no CUDA-capable device is detected" : code == 214 ? "uncorrectable ECC error encountered"
		: code == 218 ? "a PTX JIT compilation failed" : code == 700 ? "an illegal memory access was encountered" : 0;
	return *out ? 0 : 1;
}

int cuDeviceGetCount(int *out) {
	*out = 1;
	return 0;
}

int cuDeviceGet(int *out, int index) {
	*out = index;
	return 0;
}

int cuDeviceGetUuid(unsigned char *out, int device) {
	for (int i = 0; i < 16; i++)
		out[i] = 16 * i + i;
	return 0;
}

int cuDeviceGetAttribute(int *out, int what, int device) {
	*out = what == 75 ? (mode("ancient") ? 3 : 8) : what == 76 ? 7 : what == 20 && mode("exclusive") ? 3
		: what == 20 && mode("prohibited") ? 2 : 0;
	return 0;
}

int cuCtxCreate_v2(void **out, unsigned flags, int device) {
	if (mode("exclusive") || mode("prohibited"))
		return 46;
	if (mode("taken"))
		return 2;
	contexts++;
	*out = current = &contexts;
	return 0;
}

int cuCtxDestroy_v2(void *context) {
	contexts--;
	return sticky;
}

int cuCtxSetCurrent(void *context) {
	current = context;
	return 0;
}

int cuModuleLoadDataEx(void **out, const char *image, unsigned n, int *options, void **values) {
	need();
	if (mode("compiler") && n == 2 && options[0] == 5 && options[1] == 6)
		snprintf(values[0], (size_t)values[1], "ptxas: line 7: unknown instruction");
	*out = (void *)image;
	return mode("compiler") ? 218 : 0;
}

int cuModuleGetFunction(void **out, void *module, const char *name) {
	need();
	*out = strdup(name);
	return 0;
}

int cuFuncGetAttribute(int *out, int what, void *function) {
	*out = what == 4 ? 40 : 0;
	return 0;
}

int cuLaunchKernel(const char *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
	unsigned shared, void *stream, void **args, void **extra) {
	need();
	if (mode("illegal"))
		sticky = 700;
	if (mode("ecc"))
		sticky = 214;
	if (!strcmp(f, "fill") && !sticky)
		for (int i = 0; i < *(int *)args[2]; i++)
			(*(unsigned **)args[1])[i] = *(unsigned *)args[3];
	return 0; // errors are returned by the next call that waits
}

int cuMemGetInfo_v2(size_t *free, size_t *total) {
	need();
	*free = 5l << 20;
	*total = 1l << 30;
	return 0;
}

int cuMemAlloc_v2(void **out, size_t size) {
	need();
	if (sticky || size > 5l << 20)
		return sticky ? sticky : 2;
	*out = malloc(size);
	return 0;
}

int cuMemFree_v2(void *p) {
	need();
	free(p);
	return sticky;
}

int cuMemHostAlloc(void **out, size_t size, unsigned flags) {
	need();
	*out = malloc(size);
	return 0;
}

int cuMemFreeHost(void *p) {
	free(p);
	return 0;
}

static int copied(void *to, const void *from, size_t n) {
	need();
	memcpy(to, from, n);
	return sticky;
}

int cuMemcpyHtoDAsync_v2(void *to, const void *from, size_t n, void *stream) { return copied(to, from, n); }
int cuMemcpyDtoHAsync_v2(void *to, const void *from, size_t n, void *stream) { return copied(to, from, n); }
int cuMemcpyDtoDAsync_v2(void *to, const void *from, size_t n, void *stream) { return copied(to, from, n); }

int cuStreamCreate(void **out, unsigned flags) {
	need();
	*out = &ready;
	return 0;
}

int cuStreamSynchronize(void *stream) {
	need();
	return sticky;
}

int cuEventCreate(void **out, unsigned flags) {
	need();
	*out = malloc(1);
	return 0;
}

int cuEventDestroy_v2(void *event) {
	free(event);
	return 0;
}

int cuEventRecord(void *event, void *stream) { return sticky; }
int cuEventSynchronize(void *event) { return sticky; }

int cuEventElapsedTime(float *out, void *from, void *to) {
	*out = 0.25f;
	return 0;
}
