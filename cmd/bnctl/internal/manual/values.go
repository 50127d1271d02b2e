package manual

// values has the words that complete each flag, except the names of the zoo. A word that ends in a colon must
// be continued. A test of the command bnctl checks that the usage of the flag mentions each word.
var values = map[string][]string{
	"bn":            {"sync", "replica", "frozen"},
	"bn-min":        {"refuse", "running"},
	"bn-stats":      {"pooled", "mean", "first"},
	"bn-update":     {"step", "async:", "posthoc"},
	"boxes":         {"yolov8", "yolov5", "yolox", "yolox-decoded", "ssd", "suppressed", "none"},
	"class-weights": {"balanced", "median"},
	"data":          sources,
	"devices":       {"cpu", "2xcpu", "cuda", "ref", "auto"},
	"exif":          {"apply", "ignore"},
	"format": {"json", "csv", "table", "npy", "masks", "overlays", "probabilities", "page",
		"coco", "yolo"},
	"kernels":    {"auto", "amx", "fma", "generic"},
	"optimizer":  {"sgd", "adam", "adamw", "lars"},
	"precision":  {"f32", "bf16"},
	"preprocess": {"imagenet", "unit", "raw", "caffe", "none"},
	"recompute":  {"none", "auto", "all"},
	"sampling":   {"balanced", "column"},
	"save": {"last", "best", "best:accuracy", "best:loss", "best:miou",
		"best:balanced-accuracy", "best:f1", "best:auroc", "best:exact", "best:mae", "best:rmse", "best:r2",
		"best:ap50"},
	"schedule":    {"constant", "cosine", "poly", "step:", "onecycle", "plateau"},
	"tail":        {"keep", "pad", "repeat", "drop"},
	"val":         sources,
	"weight-sync": {"allreduce", "template", "periodic:", "async:"},
}

var sources = []string{"glyphs", "shapes", "folder:", "csv:", "cifar10:", "mnist:", "npy:", "masks:", "voc:"}
