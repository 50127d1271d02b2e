// A libcuda for tests, with one GPU. The GPU's memory is host memory. Only the kernel "fill" is
// executed, and other kernels do nothing. MODE selects a failure. A call without cuInit or without
// a current context ends the process.
//
// The work of a stream is done as late as possible: when the host waits for it, or when another stream does
// that the host waits for. So memory that is changed or read too early shows.
#include <pthread.h>
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

// An op is a launch with copies of its first four arguments, a copy of bytes (f is 0), the end of an event, or
// a wait for one.
struct event;
struct op {
	const char *f;
	unsigned long long words[4];
	void *to;
	const void *from;
	size_t n;
	struct event *ends, *waits;
	struct op *next;
};
struct stream {
	struct op *first, *last;
	struct stream *next;
};
struct event {
	struct stream *of;
	struct op *op; // 0: it has happened
};
static struct stream *streams;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static int add(struct stream *s, struct op made) {
	need();
	pthread_mutex_lock(&lock);
	struct op *o = malloc(sizeof *o);
	*o = made;
	if (s->last)
		s->last->next = o;
	else
		s->first = o;
	s->last = o;
	if (o->ends) {
		o->ends->of = s;
		o->ends->op = o;
	}
	pthread_mutex_unlock(&lock);
	return 0;
}

static void finish(struct event *e);

// work does the first op of a stream.
static void work(struct stream *s) {
	struct op *o = s->first;
	if (o->waits)
		finish(o->waits);
	if (o->f && mode("illegal"))
		sticky = 700;
	if (o->f && mode("ecc"))
		sticky = 214;
	if (o->f && !strcmp(o->f, "fill") && !sticky)
		for (int i = 0; i < (int)o->words[2]; i++)
			((unsigned *)o->words[1])[i] = o->words[3];
	if (o->n)
		memcpy(o->to, o->from, o->n);
	if (o->ends && o->ends->op == o)
		o->ends->op = 0;
	s->first = o->next;
	if (!s->first)
		s->last = 0;
	free(o);
}

static void finish(struct event *e) {
	while (e->op)
		work(e->of);
}

static int waited(struct stream *s, struct event *e) {
	pthread_mutex_lock(&lock);
	if (e)
		finish(e);
	while (s && s->first)
		work(s);
	pthread_mutex_unlock(&lock);
	return sticky;
}

int cuLaunchKernel(const char *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
	unsigned shared, struct stream *stream, void **args, void **extra) {
	struct op o = {.f = f};
	if (!strcmp(f, "fill"))
		for (int i = 0; i < 4; i++)
			o.words[i] = *(unsigned long long *)args[i];
	return add(stream, o); // errors are returned by the next call that waits
}

#ifndef NO_GRAPHS
// A graph is a list of launches. Each has copies of its first four arguments.
struct node {
	const char *f;
	unsigned long long words[4];
	struct node *next;
};
struct graph {
	struct node *first, *last;
	int launches;
};
static int graphs;

int cuGraphCreate(struct graph **out, unsigned flags) {
	need();
	graphs++;
	*out = calloc(1, sizeof **out);
	return 0;
}

int cuGraphAddKernelNode_v2(struct node **out, struct graph *g, struct node **after, size_t n, void **params) {
	need();
	void **args = params[5]; // after a pointer, seven numbers and padding
	struct node *made = calloc(1, sizeof *made);
	made->f = params[0];
	if (!strcmp(made->f, "fill"))
		for (int i = 0; i < 4; i++)
			made->words[i] = *(unsigned long long *)args[i];
	if (n ? g->last != *after : g->last != 0)
		return 1;
	if (n)
		g->last->next = made;
	else
		g->first = made;
	*out = g->last = made;
	return mode("no nodes") ? 1 : 0;
}

int cuGraphInstantiateWithFlags(struct graph **out, struct graph *g, unsigned long long flags) {
	need();
	if (mode("no instances"))
		return 2;
	graphs++;
	*out = malloc(sizeof *g);
	**out = *g;
	return 0;
}

int cuGraphDestroy(struct graph *g) {
	graphs--;
	free(g); // the nodes stay: the instance has them
	return 0;
}

int cuGraphExecDestroy(struct graph *g) { return cuGraphDestroy(g); }

int cuGraphLaunch(struct graph *g, struct stream *stream) {
	need();
	if (mode("no launches of graphs"))
		return 1;
	for (struct node *n = g->first; n; n = n->next) {
		void *args[4] = {&n->words[0], &n->words[1], &n->words[2], &n->words[3]};
		cuLaunchKernel(n->f, 1, 1, 1, 1, 1, 1, 0, stream, args, 0);
	}
	return 0;
}

// fakeGraphs returns the number of graphs that exist.
int fakeGraphs(void) { return graphs; }
#endif

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
	for (struct stream *s = streams; s; s = s->next)
		waited(s, 0);
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

static int copied(void *to, const void *from, size_t n, struct stream *s) {
	if (sticky)
		return sticky;
	return add(s, (struct op){.to = to, .from = from, .n = n});
}

int cuMemcpyHtoDAsync_v2(void *to, const void *from, size_t n, void *s) { return copied(to, from, n, s); }
int cuMemcpyDtoHAsync_v2(void *to, const void *from, size_t n, void *s) { return copied(to, from, n, s); }
int cuMemcpyDtoDAsync_v2(void *to, const void *from, size_t n, void *s) { return copied(to, from, n, s); }

int cuStreamCreate(struct stream **out, unsigned flags) {
	need();
	*out = calloc(1, sizeof **out);
	(*out)->next = streams;
	streams = *out;
	return 0;
}

int cuStreamSynchronize(struct stream *s) {
	need();
	return waited(s, 0);
}

int cuEventCreate(struct event **out, unsigned flags) {
	need();
	*out = calloc(1, sizeof **out);
	return 0;
}

int cuEventDestroy_v2(struct event *e) { // it may still be an op of a stream
	return 0;
}

int cuStreamWaitEvent(struct stream *s, struct event *e, unsigned flags) {
	if (sticky)
		return sticky;
	return add(s, (struct op){.waits = e});
}

int cuEventRecord(struct event *e, struct stream *s) {
	if (sticky)
		return sticky;
	return add(s, (struct op){.ends = e});
}

int cuEventSynchronize(struct event *e) {
	need();
	return waited(0, e);
}

int cuEventElapsedTime(float *out, void *from, void *to) {
	*out = 0.25f;
	return 0;
}
