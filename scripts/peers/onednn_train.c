// onednn_train FILE BATCH SECONDS: steps of training by oneDNN 2.6 for `make bench-peers`.
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
	dnnl_memory_t in, weights, product, mean, variance, scale, masks, out; // masks: a workspace
} layer;

static layer layers[MOST];
static int layerCount;
static dnnl_memory_t gradients[MOST]; // of results

static dnnl_memory_t result(int source) { return source < 0 ? input : results[source]; }

// make makes a primitive's description.
static dnnl_primitive_desc_t make(const void *d, dnnl_primitive_attr_t attr, dnnl_primitive_desc_t hint) {
	dnnl_primitive_desc_t pd;
	CHECK(dnnl_primitive_desc_create(&pd, d, attr, engine, hint));
	return pd;
}

// plus adds b to a in place, and then takes the relu of the sum as endings does.
static void plus(dnnl_memory_t a, dnnl_memory_t b, double relu) {
	dnnl_binary_desc_t d;
	b = arranged(b, desc(a));
	CHECK(dnnl_binary_desc_init(&d, dnnl_binary_add, desc(a), desc(b), desc(a)));
	step *s = add(make(&d, endings(-1, relu), NULL));
	arg(s, DNNL_ARG_SRC_0, a);
	arg(s, DNNL_ARG_SRC_1, b);
	arg(s, DNNL_ARG_DST, a);
}

static int sameShape(dnnl_memory_t a, dnnl_memory_t b) {
	for (int i = 0; i < desc(a)->ndims; i++)
		if (desc(a)->dims[i] != desc(b)->dims[i]) return 0;
	return 1;
}

// normalise is a batch norm with the batch's statistics, and a relu where nothing is added before it.
static void normalise(layer *l) {
	const int flags = dnnl_use_scaleshift | (l->relu >= 0 && l->sum < 0 ? dnnl_fuse_norm_relu : 0);
	dnnl_batch_normalization_desc_t d;
	CHECK(dnnl_batch_normalization_forward_desc_init(&d, dnnl_forward_training, desc(l->product), 1e-5f, flags));
	l->norm = make(&d, NULL, NULL);
	dnnl_memory_desc_t stat = describe(1, (dnnl_dims_t){desc(l->product)->dims[1]}, dnnl_a);
	l->out = memory(desc(l->product), 0);
	l->mean = memory(&stat, 0);
	l->variance = memory(&stat, 0);
	l->scale = memory(query(l->norm, dnnl_query_weights_md), 1);
	step *s = add(l->norm);
	arg(s, DNNL_ARG_SRC, l->product);
	arg(s, DNNL_ARG_DST, l->out);
	arg(s, DNNL_ARG_MEAN, l->mean);
	arg(s, DNNL_ARG_VARIANCE, l->variance);
	arg(s, DNNL_ARG_SCALE_SHIFT, l->scale);
	const dnnl_memory_desc_t *room = query(l->norm, dnnl_query_workspace_md);
	if (room && room->ndims > 0) arg(s, DNNL_ARG_WORKSPACE, l->masks = memory(room, 0));
	if (l->sum < 0) return;
	dnnl_memory_t other = result(l->sum);
	plus(l->out, sameShape(l->out, other) ? other : memory(desc(l->out), 1), l->relu);
}

// normaliseBack turns the gradient of a batch norm's result into that of what it normalised.
static dnnl_memory_t normaliseBack(layer *l, dnnl_memory_t gradient) {
	const int flags = dnnl_use_scaleshift | (l->relu >= 0 && l->sum < 0 ? dnnl_fuse_norm_relu : 0);
	dnnl_batch_normalization_desc_t d;
	CHECK(dnnl_batch_normalization_backward_desc_init(&d, dnnl_backward, desc(l->product), desc(l->product), 1e-5f,
		flags));
	dnnl_primitive_desc_t pd = make(&d, NULL, l->norm);
	gradient = arranged(gradient, desc(l->product));
	dnnl_memory_t back = memory(desc(l->product), 0);
	step *s = add(pd);
	arg(s, DNNL_ARG_SRC, l->product);
	arg(s, DNNL_ARG_MEAN, l->mean);
	arg(s, DNNL_ARG_VARIANCE, l->variance);
	arg(s, DNNL_ARG_SCALE_SHIFT, l->scale);
	arg(s, DNNL_ARG_DIFF_DST, gradient);
	arg(s, DNNL_ARG_DIFF_SRC, back);
	arg(s, DNNL_ARG_DIFF_SCALE_SHIFT, memory(desc(l->scale), 0));
	if (l->masks) arg(s, DNNL_ARG_WORKSPACE, l->masks);
	return back;
}

// windows is a convolution's description in three directions.
typedef struct {
	dnnl_memory_desc_t src, weights, dst;
	dnnl_dims_t strides, left, right;
} windows;

static windows shapes[MOST];

static void conv(FILE *f, layer *l, windows *w, int n) {
	int ic, ih, iw, oc, oh, ow, k, stride, pad, groups;
	if (fscanf(f, "%d %d %d %d %d %d %d %d %d %d", &ic, &ih, &iw, &oc, &oh, &ow, &k, &stride, &pad, &groups) != 10)
		exit(2);
	*w = (windows){describe(4, (dnnl_dims_t){n, ic, ih, iw}, dnnl_format_tag_any),
		groups == 1 ? describe(4, (dnnl_dims_t){oc, ic, k, k}, dnnl_format_tag_any)
			: describe(5, (dnnl_dims_t){groups, oc / groups, ic / groups, k, k}, dnnl_format_tag_any),
		describe(4, (dnnl_dims_t){n, oc, oh, ow}, dnnl_format_tag_any), {stride, stride}, {pad, pad},
		{(oh - 1) * stride + k - ih - pad, (ow - 1) * stride + k - iw - pad}};
	dnnl_convolution_desc_t d;
	CHECK(dnnl_convolution_forward_desc_init(&d, dnnl_forward_training, dnnl_convolution_auto, &w->src, &w->weights,
		NULL, &w->dst, w->strides, w->left, w->right));
	l->forward = make(&d, NULL, NULL);
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
	dnnl_eltwise_desc_t f, d;
	CHECK(dnnl_eltwise_forward_desc_init(&f, dnnl_forward_training, dnnl_eltwise_relu_use_dst_for_bwd, desc(out), 0, 0));
	CHECK(dnnl_eltwise_backward_desc_init(&d, dnnl_eltwise_relu_use_dst_for_bwd, desc(out), desc(out), 0, 0));
	dnnl_primitive_desc_t pd = make(&d, NULL, make(&f, NULL, NULL));
	gradient = arranged(gradient, desc(out));
	dnnl_memory_t to = memory(desc(out), 0);
	step *s = add(pd);
	arg(s, DNNL_ARG_DST, out);
	arg(s, DNNL_ARG_DIFF_DST, gradient);
	arg(s, DNNL_ARG_DIFF_SRC, to);
	return to;
}

static void convBack(layer *l, windows *w, dnnl_memory_t gradient) {
	if (l->sum >= 0) {
		if (l->relu >= 0) gradient = reluBack(l->out, gradient);
		contribute(l->sum, gradient);
	}
	gradient = normaliseBack(l, gradient);
	dnnl_convolution_desc_t d;
	CHECK(dnnl_convolution_backward_weights_desc_init(&d, dnnl_convolution_auto, &w->src, &w->weights, NULL, &w->dst,
		w->strides, w->left, w->right));
	forWeights(l, make(&d, NULL, l->forward), gradient, NULL);
	if (l->source < 0) return;
	CHECK(dnnl_convolution_backward_data_desc_init(&d, dnnl_convolution_auto, &w->src, &w->weights, &w->dst,
		w->strides, w->left, w->right));
	layer plain = *l;
	plain.masks = NULL;
	forInput(&plain, make(&d, NULL, l->forward), gradient);
}

// pool is max pooling, or with mean the mean of the image; with gradient its other direction.
static void pool(FILE *f, layer *l, windows *w, int n, int mean, dnnl_memory_t gradient) {
	const dnnl_alg_kind_t how = mean ? dnnl_pooling_avg_exclude_padding : dnnl_pooling_max;
	static dnnl_dims_t kernels[MOST];
	dnnl_dim_t *kernel = kernels[l - layers];
	dnnl_pooling_desc_t d;
	if (gradient) {
		CHECK(dnnl_pooling_backward_desc_init(&d, how, &w->src, &w->dst, w->strides, kernel, w->left, w->right));
		forInput(l, make(&d, NULL, l->forward), gradient);
		return;
	}
	int c, ih, iw, oh = 1, ow = 1, k, stride = 1, pad = 0;
	if (fscanf(f, "%d %d %d", &c, &ih, &iw) != 3) exit(2);
	k = ih;
	if (!mean && fscanf(f, "%d %d %d %d %d", &oh, &ow, &k, &stride, &pad) != 5) exit(2);
	kernel[0] = kernel[1] = k;
	l->in = result(l->source);
	*w = (windows){*desc(l->in), {0}, describe(4, (dnnl_dims_t){n, c, oh, ow}, dnnl_format_tag_any), {stride, stride},
		{pad, pad}, {(oh - 1) * stride + k - ih - pad, (ow - 1) * stride + k - iw - pad}};
	CHECK(dnnl_pooling_forward_desc_init(&d, dnnl_forward_training, how, &w->src, &w->dst, w->strides, kernel, w->left,
		w->right));
	l->forward = make(&d, NULL, NULL);
	l->out = memory(query(l->forward, dnnl_query_dst_md), 0);
	w->dst = *desc(l->out);
	step *s = add(l->forward);
	arg(s, DNNL_ARG_SRC, l->in);
	arg(s, DNNL_ARG_DST, l->out);
	const dnnl_memory_desc_t *room = query(l->forward, dnnl_query_workspace_md);
	if (room && room->ndims > 0) arg(s, DNNL_ARG_WORKSPACE, l->masks = memory(room, 0));
}

static void dense(FILE *f, layer *l, windows *w, int n) {
	int ic, oc;
	if (fscanf(f, "%d %d", &ic, &oc) != 2) exit(2);
	const dnnl_memory_desc_t *from = desc(result(l->source));
	dnnl_dim_t h = from->ndims == 4 ? from->dims[2] : 1, across = from->ndims == 4 ? from->dims[3] : 1;
	dnnl_dims_t in = {n, ic / (h * across), h, across}, of = {oc, ic / (h * across), h, across};
	w->src = describe(from->ndims, in, dnnl_format_tag_any);
	w->weights = describe(from->ndims, of, dnnl_format_tag_any);
	w->dst = describe(2, (dnnl_dims_t){n, oc}, dnnl_ab);
	dnnl_memory_desc_t bias = describe(1, (dnnl_dims_t){oc}, dnnl_a);
	dnnl_inner_product_desc_t d;
	CHECK(dnnl_inner_product_forward_desc_init(&d, dnnl_forward_training, &w->src, &w->weights, &bias, &w->dst));
	l->forward = make(&d, endings(-1, l->relu), NULL);
	l->in = arranged(result(l->source), query(l->forward, dnnl_query_src_md));
	l->weights = memory(query(l->forward, dnnl_query_weights_md), 1);
	l->out = memory(query(l->forward, dnnl_query_dst_md), 0);
	step *s = add(l->forward);
	arg(s, DNNL_ARG_SRC, l->in);
	arg(s, DNNL_ARG_WEIGHTS, l->weights);
	arg(s, DNNL_ARG_BIAS, memory(&bias, 1));
	arg(s, DNNL_ARG_DST, l->out);
}

static void denseBack(layer *l, windows *w, dnnl_memory_t gradient) {
	if (l->relu >= 0) gradient = reluBack(l->out, gradient);
	dnnl_memory_desc_t bias = describe(1, (dnnl_dims_t){w->dst.dims[1]}, dnnl_a);
	dnnl_inner_product_desc_t d;
	CHECK(dnnl_inner_product_backward_weights_desc_init(&d, &w->src, &w->weights, &bias, &w->dst));
	forWeights(l, make(&d, NULL, l->forward), gradient, memory(&bias, 0));
	if (l->source < 0) return;
	CHECK(dnnl_inner_product_backward_data_desc_init(&d, &w->src, &w->weights, &w->dst));
	forInput(l, make(&d, NULL, l->forward), gradient);
}

// load makes the steps of all layers, forward and backward; the input is as images come, channels first.
static void load(FILE *f, int n) {
	for (layer *l = layers; fscanf(f, "%15s %d %d %lf", l->kind, &l->source, &l->sum, &l->relu) == 4; l++) {
		if (l->source < 0 && !input) {
			int c, h, w;
			long at = ftell(f);
			if (fscanf(f, "%d %d %d", &c, &h, &w) != 3) exit(2);
			fseek(f, at, SEEK_SET);
			dnnl_memory_desc_t d = describe(4, (dnnl_dims_t){n, c, h, w}, dnnl_nchw);
			input = memory(&d, 1);
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
