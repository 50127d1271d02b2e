// onednn_train FILE BATCH SECONDS: steps of training by oneDNN 3.7 for `make bench-peers`.
//
// FILE has a network's layers as layers.py writes them; every convolution has a batch norm behind it. A step is
// all layers forward, then backward for their inputs and for their weights, and the additions of residual
// networks in both directions. Each is a primitive in the layout that oneDNN likes best, a relu part of
// the batch norm before it; changes of layout are steps of their own, and count. Loss, update, and slices and
// padding of resnet20's shortcuts are left out, as if they took no time. Prints {"peer", "version", "images_per_s",
// "reorders"}. Threads: OMP_NUM_THREADS. Build: cc -O2 onednn_train.c -ldnnl -lm
#include "onednn.h"

typedef struct {
	char kind[16];
	int source, sum;
	double relu;
	dnnl_primitive_desc_t forward, norm;
	dnnl_memory_t in, weights, product, mean, variance, scale, shift, masks, out; // masks: a workspace
} layer;
static layer layers[MOST];
static int layerCount;
static dnnl_memory_t gradients[MOST]; // of results

static dnnl_memory_t result(int source) { return source < 0 ? input : results[source]; }

static int real(layout d) { return d && ndims(d) > 0 && dnnl_memory_desc_get_size(d) > 0; }

// plus adds b to a in place, and then takes the relu of the sum as epilogue does.
static void plus(dnnl_memory_t a, dnnl_memory_t b, double relu) {
	dnnl_primitive_desc_t pd;
	b = arranged(b, desc(a));
	CHECK(dnnl_binary_primitive_desc_create(&pd, engine, dnnl_binary_add, desc(a), desc(b), desc(a), epilogue(-1,
		relu)));
	step *s = add(pd);
	arg(s, DNNL_ARG_SRC_0, a);
	arg(s, DNNL_ARG_SRC_1, b);
	arg(s, DNNL_ARG_DST, a);
}

static int sameShape(dnnl_memory_t a, dnnl_memory_t b) {
	for (int i = 0; i < ndims(desc(a)); i++)
		if (dims(desc(a))[i] != dims(desc(b))[i]) return 0;
	return 1;
}

static unsigned flagsOf(layer *l) {
	return dnnl_use_scale | dnnl_use_shift | (l->relu >= 0 && l->sum < 0 ? dnnl_fuse_norm_relu : 0);
}

// normalise is a batch norm with the batch's statistics, and a relu where nothing is added before it.
static void normalise(layer *l) {
	CHECK(dnnl_batch_normalization_forward_primitive_desc_create(&l->norm, engine, dnnl_forward_training,
		desc(l->product),
		desc(l->product), 1e-5f, flagsOf(l), NULL));
	dnnl_memory_desc_t stat = describe(1, (dnnl_dims_t){dims(desc(l->product))[1]}, dnnl_a);
	l->out = memory(desc(l->product), 0);
	l->mean = memory(stat, 0);
	l->variance = memory(stat, 0);
	l->scale = memory(stat, 1);
	l->shift = memory(stat, 1);
	step *s = add(l->norm);
	arg(s, DNNL_ARG_SRC, l->product);
	arg(s, DNNL_ARG_DST, l->out);
	arg(s, DNNL_ARG_MEAN, l->mean);
	arg(s, DNNL_ARG_VARIANCE, l->variance);
	arg(s, DNNL_ARG_SCALE, l->scale);
	arg(s, DNNL_ARG_SHIFT, l->shift);
	layout room = query(l->norm, dnnl_query_workspace_md);
	if (real(room)) arg(s, DNNL_ARG_WORKSPACE, l->masks = memory(room, 0));
	if (l->sum < 0) return;
	dnnl_memory_t other = result(l->sum);
	plus(l->out, sameShape(l->out, other) ? other : memory(desc(l->out), 1), l->relu);
}

// normaliseBack turns the gradient of a batch norm's result into that of what it normalised.
static dnnl_memory_t normaliseBack(layer *l, dnnl_memory_t gradient) {
	dnnl_primitive_desc_t pd;
	CHECK(dnnl_batch_normalization_backward_primitive_desc_create(&pd, engine, dnnl_backward, desc(l->product),
		desc(l->product), desc(l->product), 1e-5f, flagsOf(l), l->norm, NULL));
	gradient = arranged(gradient, desc(l->product));
	dnnl_memory_t back = memory(desc(l->product), 0);
	step *s = add(pd);
	arg(s, DNNL_ARG_SRC, l->product);
	arg(s, DNNL_ARG_MEAN, l->mean);
	arg(s, DNNL_ARG_VARIANCE, l->variance);
	arg(s, DNNL_ARG_SCALE, l->scale);
	arg(s, DNNL_ARG_DIFF_DST, gradient);
	arg(s, DNNL_ARG_DIFF_SRC, back);
	arg(s, DNNL_ARG_DIFF_SCALE, memory(desc(l->scale), 0));
	arg(s, DNNL_ARG_DIFF_SHIFT, memory(desc(l->scale), 0));
	if (l->masks) arg(s, DNNL_ARG_WORKSPACE, l->masks);
	return back;
}

typedef struct { dnnl_memory_desc_t src, weights, dst; dnnl_dims_t strides, left, right; } windows;
static windows shapes[MOST];
static const dnnl_dims_t none = {0};

static void conv(FILE *f, layer *l, windows *w, int n) {
	int ic, ih, iw, oc, oh, ow, k, stride, pad, groups;
	if (fscanf(f, "%d %d %d %d %d %d %d %d %d %d", &ic, &ih, &iw, &oc, &oh, &ow, &k, &stride, &pad,
		&groups) != 10) exit(2);
	*w = (windows){describe(4, (dnnl_dims_t){n, ic, ih, iw}, dnnl_format_tag_any),
		groups == 1 ? describe(4, (dnnl_dims_t){oc, ic, k, k}, dnnl_format_tag_any)
			: describe(5, (dnnl_dims_t){groups, oc / groups, ic / groups, k, k}, dnnl_format_tag_any),
		describe(4, (dnnl_dims_t){n, oc, oh, ow}, dnnl_format_tag_any), {stride, stride}, {pad, pad},
		{(oh - 1) * stride + k - ih - pad, (ow - 1) * stride + k - iw - pad}};
	CHECK(dnnl_convolution_forward_primitive_desc_create(&l->forward, engine, dnnl_forward_training,
		dnnl_convolution_auto,
		w->src, w->weights, NULL, w->dst, w->strides, none, w->left, w->right, NULL));
	l->in = arranged(result(l->source), query(l->forward, dnnl_query_src_md));
	l->weights = memory(query(l->forward, dnnl_query_weights_md), 1);
	l->product = memory(query(l->forward, dnnl_query_dst_md), 0);
	step *s = add(l->forward);
	arg(s, DNNL_ARG_SRC, l->in);
	arg(s, DNNL_ARG_WEIGHTS, l->weights);
	arg(s, DNNL_ARG_DST, l->product);
	normalise(l);
}

// forWeights is a step for the gradient of weights, which end up in the layout of the weights.
static void forWeights(layer *l, dnnl_primitive_desc_t pd, dnnl_memory_t gradient, dnnl_memory_t bias) {
	dnnl_memory_t in = arranged(l->in, query(pd, dnnl_query_src_md));
	gradient = arranged(gradient, query(pd, dnnl_query_diff_dst_md));
	dnnl_memory_t to = memory(query(pd, dnnl_query_diff_weights_md), 0);
	step *s = add(pd);
	arg(s, DNNL_ARG_SRC, in);
	arg(s, DNNL_ARG_DIFF_DST, gradient);
	arg(s, DNNL_ARG_DIFF_WEIGHTS, to);
	if (bias) arg(s, DNNL_ARG_DIFF_BIAS, bias);
	arranged(to, desc(l->weights));
}

// contribute adds to the gradient of a result.
static void contribute(int to, dnnl_memory_t gradient) {
	if (to < 0 || !sameShape(gradient, results[to])) return;
	if (!gradients[to]) gradients[to] = gradient;
	else plus(gradients[to], gradient, -1);
}

// forInput is a step for the gradient of a layer's input.
static void forInput(layer *l, dnnl_primitive_desc_t pd, dnnl_memory_t gradient) {
	gradient = arranged(gradient, query(pd, dnnl_query_diff_dst_md));
	dnnl_memory_t to = memory(query(pd, dnnl_query_diff_src_md), 0);
	dnnl_memory_t weights = l->weights ? arranged(l->weights, query(pd, dnnl_query_weights_md)) : NULL;
	step *s = add(pd);
	arg(s, DNNL_ARG_DIFF_DST, gradient);
	arg(s, DNNL_ARG_DIFF_SRC, to);
	if (weights) arg(s, DNNL_ARG_WEIGHTS, weights);
	if (l->masks) arg(s, DNNL_ARG_WORKSPACE, l->masks);
	contribute(l->source, to);
}

// reluBack returns the gradient of what a relu with this result was taken of.
static dnnl_memory_t reluBack(dnnl_memory_t out, dnnl_memory_t gradient) {
	dnnl_primitive_desc_t f, pd;
	CHECK(dnnl_eltwise_forward_primitive_desc_create(&f, engine, dnnl_forward_training,
		dnnl_eltwise_relu_use_dst_for_bwd, desc(out), desc(out), 0, 0, NULL));
	CHECK(dnnl_eltwise_backward_primitive_desc_create(&pd, engine, dnnl_eltwise_relu_use_dst_for_bwd, desc(out),
		desc(out), desc(out), 0, 0, f, NULL));
	gradient = arranged(gradient, desc(out));
	dnnl_memory_t to = memory(desc(out), 0);
	step *s = add(pd);
	arg(s, DNNL_ARG_DST, out);
	arg(s, DNNL_ARG_DIFF_DST, gradient);
	arg(s, DNNL_ARG_DIFF_SRC, to);
	return to;
}

static void convBack(layer *l, windows *w, dnnl_memory_t gradient) {
	dnnl_primitive_desc_t pd;
	if (l->sum >= 0) {
		if (l->relu >= 0) gradient = reluBack(l->out, gradient);
		contribute(l->sum, gradient);
	}
	gradient = normaliseBack(l, gradient);
	CHECK(dnnl_convolution_backward_weights_primitive_desc_create(&pd, engine, dnnl_convolution_auto, w->src,
		w->weights, NULL, w->dst,
		w->strides, none, w->left, w->right, l->forward, NULL));
	forWeights(l, pd, gradient, NULL);
	if (l->source < 0) return;
	CHECK(dnnl_convolution_backward_data_primitive_desc_create(&pd, engine, dnnl_convolution_auto, w->src,
		w->weights, w->dst,
		w->strides, none, w->left, w->right, l->forward, NULL));
	layer plain = *l;
	plain.masks = NULL;
	forInput(&plain, pd, gradient);
}

// pool is max pooling, or with mean the mean of the image; with gradient its other direction.
static void pool(FILE *f, layer *l, windows *w, int n, int mean, dnnl_memory_t gradient) {
	const dnnl_alg_kind_t how = mean ? dnnl_pooling_avg_exclude_padding : dnnl_pooling_max;
	static dnnl_dims_t kernels[MOST];
	dnnl_dim_t *kernel = kernels[l - layers];
	if (gradient) {
		dnnl_primitive_desc_t pd;
		CHECK(dnnl_pooling_backward_primitive_desc_create(&pd, engine, how, w->src, w->dst, w->strides, kernel,
			none, w->left, w->right, l->forward, NULL));
		forInput(l, pd, gradient);
		return;
	}
	int c, ih, iw, oh = 1, ow = 1, k, stride = 1, pad = 0;
	if (fscanf(f, "%d %d %d", &c, &ih, &iw) != 3) exit(2);
	k = ih;
	if (!mean && fscanf(f, "%d %d %d %d %d", &oh, &ow, &k, &stride, &pad) != 5) exit(2);
	kernel[0] = kernel[1] = k;
	l->in = result(l->source);
	dnnl_memory_desc_t src;
	CHECK(dnnl_memory_desc_clone(&src, desc(l->in)));
	*w = (windows){src, 0, describe(4, (dnnl_dims_t){n, c, oh, ow}, dnnl_format_tag_any), {stride, stride},
		{pad, pad}, {(oh - 1) * stride + k - ih - pad, (ow - 1) * stride + k - iw - pad}};
	CHECK(dnnl_pooling_forward_primitive_desc_create(&l->forward, engine, dnnl_forward_training, how, w->src,
		w->dst, w->strides, kernel, none, w->left, w->right, NULL));
	l->out = memory(query(l->forward, dnnl_query_dst_md), 0);
	CHECK(dnnl_memory_desc_clone(&w->dst, desc(l->out)));
	step *s = add(l->forward);
	arg(s, DNNL_ARG_SRC, l->in);
	arg(s, DNNL_ARG_DST, l->out);
	layout room = query(l->forward, dnnl_query_workspace_md);
	if (real(room)) arg(s, DNNL_ARG_WORKSPACE, l->masks = memory(room, 0));
}

static void dense(FILE *f, layer *l, windows *w, int n) {
	int ic, oc;
	if (fscanf(f, "%d %d", &ic, &oc) != 2) exit(2);
	layout from = desc(result(l->source));
	dnnl_dim_t h = ndims(from) == 4 ? dims(from)[2] : 1, across = ndims(from) == 4 ? dims(from)[3] : 1;
	dnnl_dims_t in = {n, ic / (h * across), h, across}, of = {oc, ic / (h * across), h, across};
	w->src = describe(ndims(from), in, dnnl_format_tag_any);
	w->weights = describe(ndims(from), of, dnnl_format_tag_any);
	w->dst = describe(2, (dnnl_dims_t){n, oc}, dnnl_ab);
	dnnl_memory_desc_t bias = describe(1, (dnnl_dims_t){oc}, dnnl_a);
	CHECK(dnnl_inner_product_forward_primitive_desc_create(&l->forward, engine, dnnl_forward_training, w->src,
		w->weights, bias, w->dst, epilogue(-1, l->relu)));
	l->in = arranged(result(l->source), query(l->forward, dnnl_query_src_md));
	l->weights = memory(query(l->forward, dnnl_query_weights_md), 1);
	l->out = memory(query(l->forward, dnnl_query_dst_md), 0);
	step *s = add(l->forward);
	arg(s, DNNL_ARG_SRC, l->in);
	arg(s, DNNL_ARG_WEIGHTS, l->weights);
	arg(s, DNNL_ARG_BIAS, memory(bias, 1));
	arg(s, DNNL_ARG_DST, l->out);
}

static void denseBack(layer *l, windows *w, dnnl_memory_t gradient) {
	dnnl_primitive_desc_t pd;
	if (l->relu >= 0) gradient = reluBack(l->out, gradient);
	dnnl_memory_desc_t bias = describe(1, (dnnl_dims_t){dims(w->dst)[1]}, dnnl_a);
	CHECK(dnnl_inner_product_backward_weights_primitive_desc_create(&pd, engine, w->src, w->weights, bias, w->dst,
		l->forward, NULL));
	forWeights(l, pd, gradient, memory(bias, 0));
	if (l->source < 0) return;
	CHECK(dnnl_inner_product_backward_data_primitive_desc_create(&pd, engine, w->src, w->weights, w->dst,
		l->forward, NULL));
	forInput(l, pd, gradient);
}

// load makes the steps of all layers, forward and backward; the input is as images come, channels first.
static void load(FILE *f, int n) {
	for (layer *l = layers; fscanf(f, "%15s %d %d %lf", l->kind, &l->source, &l->sum, &l->relu) == 4; l++) {
		if (l->source < 0 && !input) {
			int c, h, w;
			long at = ftell(f);
			if (fscanf(f, "%d %d %d", &c, &h, &w) != 3) exit(2);
			fseek(f, at, SEEK_SET);
			input = memory(describe(4, (dnnl_dims_t){n, c, h, w}, dnnl_nchw), 1);
		}
		windows *w = &shapes[layerCount];
		if (!strcmp(l->kind, "conv")) conv(f, l, w, n);
		else if (!strcmp(l->kind, "dense")) dense(f, l, w, n);
		else pool(f, l, w, n, !strcmp(l->kind, "mean"), NULL);
		results[layerCount++] = l->out;
	}
	gradients[layerCount - 1] = memory(desc(layers[layerCount - 1].out), 1);
	for (int i = layerCount - 1; i >= 0; i--) {
		layer *l = &layers[i];
		if (!strcmp(l->kind, "conv")) convBack(l, &shapes[i], gradients[i]);
		else if (!strcmp(l->kind, "dense")) denseBack(l, &shapes[i], gradients[i]);
		else pool(NULL, l, &shapes[i], n, !strcmp(l->kind, "mean"), gradients[i]);
	}
}

int main(int argc, char **argv) {
	FILE *f = opened(argc, argv);
	int batch = atoi(argv[2]);
	load(f, batch);
	report(batch, atof(argv[3]));
	return 0;
}
