// A libOpenCL for tests. MODE selects: no platform ("none"), a platform without a device
// ("empty"), or one device. With "listed", creating a context ends the process. With "busy" and
// "taken" it fails because the device is not available or is out of resources.
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static int mode(const char *s) { return strcmp(MODE, s) == 0; }

int clGetPlatformIDs(unsigned n, void **ids, unsigned *count) {
	if (mode("none"))
		return -1001;
	*ids = (void *)1;
	*count = 1;
	return 0;
}

int clGetDeviceIDs(void *platform, uint64_t kind, unsigned n, void **ids, unsigned *count) {
	if (mode("empty"))
		return -1;
	*ids = (void *)2;
	*count = 1;
	return 0;
}

static int text(const char *s, char *value) {
	strcpy(value, s);
	return 0;
}

int clGetPlatformInfo(void *platform, unsigned what, size_t size, void *value, size_t *got) {
	return text("a platform", value);
}

int clGetDeviceInfo(void *device, unsigned what, size_t size, void *value, size_t *got) {
	if (what == 0x102B || what == 0x102D || what == 0x102F)
		return text("a device", value);
	memset(value, 0, size);
	*(unsigned *)value = what == 0x101B || what == 0x1032 ? 0x3f : what == 0x1023 ? 1 << 16
		: 1024; // all features of floats, local memory, or a number
	return 0;
}

void *clCreateContext(void *props, unsigned n, void **devices, void *notify, void *user, int *code) {
	if (mode("listed"))
		exit(9);
	*code = mode("busy") ? -2 : -5;
	return NULL;
}

#define UNUSED(name) int name(void) { exit(8); }
UNUSED(clReleaseContext) UNUSED(clCreateCommandQueue) UNUSED(clReleaseCommandQueue) UNUSED(clFinish)
UNUSED(clCreateProgramWithBinary) UNUSED(clGetProgramInfo) UNUSED(clCreateProgramWithSource)
UNUSED(clBuildProgram) UNUSED(clGetProgramBuildInfo) UNUSED(clReleaseProgram) UNUSED(clCreateKernel)
UNUSED(clReleaseKernel) UNUSED(clSetKernelArg) UNUSED(clEnqueueNDRangeKernel) UNUSED(clCreateBuffer)
UNUSED(clReleaseMemObject) UNUSED(clEnqueueReadBuffer) UNUSED(clEnqueueWriteBuffer)
UNUSED(clEnqueueCopyBuffer) UNUSED(clEnqueueMarkerWithWaitList) UNUSED(clWaitForEvents)
UNUSED(clGetEventProfilingInfo) UNUSED(clReleaseEvent)
