// onednn FILE BATCH SECONDS: predicts by oneDNN 3.7 for `make bench-peers`.
//
// FILE has a network's layers as layers.py writes them. Each is a primitive in the layout
// that oneDNN likes best, its batch norm, addition and relu fused; changes of layout between
// layers are steps of their own, and count. Weights are laid out before the clock starts.
// Prints {"peer", "version", "images_per_s", "reorders"}. Threads: OMP_NUM_THREADS.
// Build: cc -O2 onednn.c -ldnnl -lm
#include "onednn.h"

// store returns the memory that a layer writes: what it adds to, or new. A sum of another
// shape (resnet20's shortcuts) is read from that new memory.
static dnnl_memory_t store(layout d, int sum) {
	if (sum < 0) return memory(d, 0);
	layout s = desc(results[sum]);
	for (int i = 0; i < ndims(d); i++)
		if (dims(s)[i] != dims(d)[i]) return memory(d, 1);
	return arranged(results[sum], d);
}

// finish makes the step of a layer.
static dnnl_memory_t finish(dnnl_primitive_desc_t pd, dnnl_memory_t from, int sum, int weights) {
	from = arranged(from, query(pd, dnnl_query_src_md));
	dnnl_memory_t to = store(query(pd, dnnl_query_dst_md), sum);
	step *s = add(pd);
	arg(s, DNNL_ARG_SRC, from);
	arg(s, DNNL_ARG_DST, to);
	if (weights) {
		arg(s, DNNL_ARG_WEIGHTS, memory(query(pd, dnnl_query_weights_md), 1));
		arg(s, DNNL_ARG_BIAS, memory(dnnl_primitive_desc_query_md(pd, dnnl_query_weights_md, 1), 1));
	}
	return to;
}

static dnnl_memory_t conv(FILE *f, dnnl_memory_t from, int n, int sum, double relu) {
	int ic, ih, iw, oc, oh, ow, k, stride, pad, groups;
	if (fscanf(f, "%d %d %d %d %d %d %d %d %d %d", &ic, &ih, &iw, &oc, &oh, &ow, &k, &stride, &pad,
		&groups) != 10) exit(2);
	dnnl_memory_desc_t src = describe(4, (dnnl_dims_t){n, ic, ih, iw}, dnnl_format_tag_any);
	dnnl_memory_desc_t dst = describe(4, (dnnl_dims_t){n, oc, oh, ow}, dnnl_format_tag_any);
	dnnl_memory_desc_t w = groups == 1 ? describe(4, (dnnl_dims_t){oc, ic, k, k}, dnnl_format_tag_any)
		: describe(5, (dnnl_dims_t){groups, oc / groups, ic / groups, k, k}, dnnl_format_tag_any);
	dnnl_memory_desc_t bias = describe(1, (dnnl_dims_t){oc}, dnnl_a);
	dnnl_dims_t right = {(oh - 1) * stride + k - ih - pad, (ow - 1) * stride + k - iw - pad};
	dnnl_primitive_desc_t pd;
	CHECK(dnnl_convolution_forward_primitive_desc_create(&pd, engine, dnnl_forward_inference, dnnl_convolution_auto,
		src, w, bias, dst, (dnnl_dims_t){stride, stride}, (dnnl_dims_t){0, 0}, (dnnl_dims_t){pad, pad}, right,
			epilogue(sum, relu)));
	return finish(pd, from, sum, 1);
}

// pool is max pooling, or with mean the mean of the image.
static dnnl_memory_t pool(FILE *f, dnnl_memory_t from, int n, int mean) {
	int c, ih, iw, oh = 1, ow = 1, k, stride = 1, pad = 0;
	if (fscanf(f, "%d %d %d", &c, &ih, &iw) != 3) exit(2);
	k = ih;
	if (!mean && fscanf(f, "%d %d %d %d %d", &oh, &ow, &k, &stride, &pad) != 5) exit(2);
	dnnl_memory_desc_t dst = describe(4, (dnnl_dims_t){n, c, oh, ow}, dnnl_format_tag_any);
	dnnl_dims_t right = {(oh - 1) * stride + k - ih - pad, (ow - 1) * stride + k - iw - pad};
	dnnl_primitive_desc_t pd;
	CHECK(dnnl_pooling_forward_primitive_desc_create(&pd, engine, dnnl_forward_inference,
		mean ? dnnl_pooling_avg_exclude_padding : dnnl_pooling_max, desc(from), dst,
		(dnnl_dims_t){stride, stride}, (dnnl_dims_t){k, k}, (dnnl_dims_t){0, 0}, (dnnl_dims_t){pad, pad}, right,
			NULL));
	return finish(pd, from, -1, 0);
}

static dnnl_memory_t dense(FILE *f, dnnl_memory_t from, int n, double relu) {
	int ic, oc;
	if (fscanf(f, "%d %d", &ic, &oc) != 2) exit(2);
	layout s = desc(from);
	dnnl_dim_t h = ndims(s) == 4 ? dims(s)[2] : 1, w = ndims(s) == 4 ? dims(s)[3] : 1;
	dnnl_dims_t in = {n, ic / (h * w), h, w}, of = {oc, ic / (h * w), h, w};
	dnnl_memory_desc_t src = describe(ndims(s), in, dnnl_format_tag_any);
	dnnl_memory_desc_t weights = describe(ndims(s), of, dnnl_format_tag_any);
	dnnl_memory_desc_t bias = describe(1, (dnnl_dims_t){oc}, dnnl_a);
	dnnl_memory_desc_t dst = describe(2, (dnnl_dims_t){n, oc}, dnnl_ab);
	dnnl_primitive_desc_t pd;
	CHECK(dnnl_inner_product_forward_primitive_desc_create(&pd, engine, dnnl_forward_inference, src, weights, bias,
		dst, epilogue(-1, relu)));
	return finish(pd, from, -1, 1);
}

// load makes the steps of all layers; the input is as images come, channels first.
static void load(FILE *f, int n) {
	char kind[16];
	int source, sum, c, h, w;
	double relu;
	for (int i = 0; i < MOST && fscanf(f, "%15s %d %d %lf", kind, &source, &sum, &relu) == 4; i++) {
		if (source < 0 && !input) {
			long at = ftell(f);
			if (fscanf(f, "%d %d %d", &c, &h, &w) != 3) exit(2);
			fseek(f, at, SEEK_SET);
			input = memory(describe(4, (dnnl_dims_t){n, c, h, w}, dnnl_nchw), 1);
		}
		dnnl_memory_t from = source < 0 ? input : results[source];
		if (!strcmp(kind, "conv")) results[i] = conv(f, from, n, sum, relu);
		else if (!strcmp(kind, "dense")) results[i] = dense(f, from, n, relu);
		else results[i] = pool(f, from, n, !strcmp(kind, "mean"));
	}
}

int main(int argc, char **argv) {
	FILE *f = opened(argc, argv);
	int batch = atoi(argv[2]);
	load(f, batch);
	report(batch, atof(argv[3]));
	return 0;
}
