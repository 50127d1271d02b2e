// onednn.h: steps of oneDNN 3.7 and the changes of layout between them, for onednn.c and
// onednn_train.c.
#include <dnnl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST = 512 };

static void check(dnnl_status_t s, const char *file, int line) {
	if (s != dnnl_success) {
		fprintf(stderr, "%s:%d: status %d\n", file, line, s);
		exit(1);
	}
}
#define CHECK(call) check(call, __FILE__, __LINE__)

typedef struct {
	dnnl_primitive_t primitive;
	dnnl_exec_arg_t args[12];
	int count;
} step;

typedef const_dnnl_memory_desc_t layout; // of a memory; its owner keeps it
static dnnl_engine_t engine;
static dnnl_stream_t stream;
static step steps[8 * MOST];
static int stepCount, reorders;
static dnnl_memory_t results[MOST], input;

// memory returns zeroed memory, or with fill small numbers of both signs.
static dnnl_memory_t memory(layout d, int fill) {
	dnnl_memory_t m;
	void *data;
	CHECK(dnnl_memory_create(&m, d, engine, DNNL_MEMORY_ALLOCATE));
	CHECK(dnnl_memory_get_data_handle(m, &data));
	size_t n = dnnl_memory_desc_get_size(d) / sizeof(float);
	for (size_t i = 0; i < n; i++) ((float *)data)[i] = fill ? 0.05f * sinf(0.37f * i) : 0;
	return m;
}

static layout desc(dnnl_memory_t m) {
	layout d;
	CHECK(dnnl_memory_get_memory_desc(m, &d));
	return d;
}

static int ndims(layout d) {
	int n = 0;
	CHECK(dnnl_memory_desc_query(d, dnnl_query_ndims_s32, &n));
	return n;
}

static const dnnl_dim_t *dims(layout d) {
	dnnl_dims_t *p;
	CHECK(dnnl_memory_desc_query(d, dnnl_query_dims, &p));
	return *p;
}

static dnnl_memory_desc_t describe(int n, const dnnl_dim_t *dm, dnnl_format_tag_t tag) {
	dnnl_memory_desc_t d;
	CHECK(dnnl_memory_desc_create_with_tag(&d, n, dm, dnnl_f32, tag));
	return d;
}

static void arg(step *s, int what, dnnl_memory_t m) {
	s->args[s->count].arg = what;
	s->args[s->count++].memory = m;
}

// add begins a step.
static step *add(dnnl_primitive_desc_t pd) {
	step *s = &steps[stepCount++];
	CHECK(dnnl_primitive_create(&s->primitive, pd));
	return s;
}

// arranged returns m in a layout; if it has another, a step changes it.
static dnnl_memory_t arranged(dnnl_memory_t m, layout want) {
	if (dnnl_memory_desc_equal(desc(m), want)) return m;
	dnnl_primitive_desc_t pd;
	dnnl_memory_t to = memory(want, 0);
	CHECK(dnnl_reorder_primitive_desc_create(&pd, desc(m), engine, want, engine, NULL));
	step *s = add(pd);
	arg(s, DNNL_ARG_FROM, m);
	arg(s, DNNL_ARG_TO, to);
	reorders++;
	return to;
}

static layout query(dnnl_primitive_desc_t pd, dnnl_query_t what) { return dnnl_primitive_desc_query_md(pd, what,
	0); }

static double now(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + 1e-9 * t.tv_nsec;
}

// epilogue returns what follows in a layer's store: the addition of what lies there unless sum
// is negative, then, unless relu is negative, a relu, up to relu if that is above 0.
static dnnl_primitive_attr_t epilogue(int sum, double relu) {
	dnnl_primitive_attr_t a;
	dnnl_post_ops_t ops;
	CHECK(dnnl_primitive_attr_create(&a));
	CHECK(dnnl_post_ops_create(&ops));
	if (sum >= 0) CHECK(dnnl_post_ops_append_sum(ops, 1, 0, dnnl_data_type_undef));
	if (relu == 0) CHECK(dnnl_post_ops_append_eltwise(ops, dnnl_eltwise_relu, 0, 0));
	if (relu > 0) CHECK(dnnl_post_ops_append_eltwise(ops, dnnl_eltwise_clip, 0, relu));
	CHECK(dnnl_primitive_attr_set_post_ops(a, ops));
	return a;
}

// run executes all steps once.
static void run(void) {
	for (int i = 0; i < stepCount; i++)
		CHECK(dnnl_primitive_execute(steps[i].primitive, stream, steps[i].count, steps[i].args));
	CHECK(dnnl_stream_wait(stream));
}

// report runs for so many seconds and prints images per second.
static void report(int batch, double seconds) {
	int runs = 0;
	run();
	run();
	double began = now();
	while (runs == 0 || now() - began < seconds) run(), runs++;
	const dnnl_version_t *v = dnnl_version();
	printf("{\"peer\": \"oneDNN\", \"version\": \"%d.%d.%d\", \"images_per_s\": %g, \"reorders\": %d}\n", v->major,
		v->minor, v->patch, batch * runs / (now() - began), reorders);
}

// opened opens the file of layers that the first of three arguments names.
static FILE *opened(int argc, char **argv) {
	FILE *f = argc == 4 ? fopen(argv[1], "r") : NULL;
	if (!f) {
		fprintf(stderr, "%s FILE BATCH SECONDS\n", argv[0]);
		exit(2);
	}
	CHECK(dnnl_engine_create(&engine, dnnl_cpu, 0));
	CHECK(dnnl_stream_create(&stream, engine, dnnl_stream_default_flags));
	return f;
}
