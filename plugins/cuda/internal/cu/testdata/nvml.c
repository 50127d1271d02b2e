// A libnvidia-ml with two GPUs, or one that fails, by MODE. A call before
// nvmlInit_v2, or of anything that is not here, ends the process.
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
	return put(out, length, device == (void *)100 ? "NVIDIA A" : "NVIDIA B");
}

int nvmlDeviceGetUUID(void *device, char *out, unsigned length) {
	return put(out, length, device == (void *)100 ? "GPU-aaaa" : "GPU-bbbb");
}

int nvmlDeviceGetMemoryInfo(void *device, unsigned long long *memory) {
	need();
	memory[0] = 80ull << 30;
	memory[1] = (device == (void *)100 ? 70ull : 60ull) << 30;
	memory[2] = memory[0] - memory[1];
	return 0;
}
