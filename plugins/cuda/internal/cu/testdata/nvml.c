// A libnvidia-ml for tests, with two GPUs. MODE selects a failure, or parts of a GPU. A call before
// nvmlInit_v2, or of a function that is missing here, ends the process.
#include <stdlib.h>
#include <string.h>

static int ready;

static int mode(const char *m) { return !strcmp(MODE, m); }

static void need(void) {
	if (!ready)
		abort();
}

int nvmlInit_v2(void) {
	ready = 1;
	return mode("no driver") ? 9 : 0;
}

int nvmlShutdown(void) {
	need();
	ready = 0;
	return 0;
}

const char *nvmlErrorString(int code) {
	return code == 9 ? "Driver Not Loaded" : code == 15 ? "GPU is lost" : "Unknown Error";
}

static int put(char *out, unsigned length, const char *text) {
	need();
	if (strlen(text) >= length)
		return 7;
	strcpy(out, text);
	return 0;
}

int nvmlSystemGetDriverVersion(char *out, unsigned length) { return put(out, length, "580.65.06"); }

int nvmlDeviceGetCount_v2(unsigned *count) {
	need();
	*count = mode("none") ? 0 : 2;
	return 0;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **device) {
	need();
	if (mode("lost") && index == 1)
		return 15;
	*device = (void *)(long)(index + 100);
	return 0;
}

int nvmlDeviceGetName(void *device, char *out, unsigned length) {
	return put(out, length, device == (void *)101 ? "NVIDIA B" : "NVIDIA A");
}

int nvmlDeviceGetUUID(void *device, char *out, unsigned length) {
	return put(out, length, device == (void *)100 ? "GPU-aaaa" : device == (void *)101 ? "GPU-bbbb"
		: device == (void *)200 ? "MIG-aaaa" : "MIG-bbbb");
}

// In mode "parts", GPU 0 has two of at most three parts.
int nvmlDeviceGetMigMode(void *device, unsigned *now, unsigned *next) {
	need();
	*now = *next = mode("parts") && device == (void *)100;
	return mode("parts") ? 0 : 3;
}

int nvmlDeviceGetMaxMigDeviceCount(void *device, unsigned *out) {
	*out = 3;
	return 0;
}

int nvmlDeviceGetMigDeviceHandleByIndex(void *device, unsigned index, void **part) {
	*part = (void *)(long)(index == 2 ? 201 : 200);
	return index == 1 ? 6 : 0;
}

int nvmlDeviceGetMemoryInfo(void *device, unsigned long long *memory) {
	need();
	memory[0] = 80ull << 30;
	memory[1] = (device == (void *)100 ? 70ull : 60ull) << 30;
	memory[2] = memory[0] - memory[1];
	return 0;
}
