package main

import (
	"fmt"
	"slices"

	"github.com/urfave/cli/v2"

	"github.com/bnctl/bnctl/cmd/bnctl/internal/attest"
	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/recipe"
)

// defaultModel is the model that train uses without --model.
const defaultModel = "lenet-bn"

// recipeChange is a function that sets those fields of a recipe that the flags set.
type recipeChange func(*recipe.Recipe) error

// recipeFlags are the flags that set fields of the recipe, so that they determine the result. Their defaults
// are the values in recipe.Default.
func recipeFlags() []cli.Flag {
	d := recipe.Default(defaultModel)
	return append([]cli.Flag{
		&cli.StringFlag{Name: "model", Value: d.Model,
			Usage: "`NAME` of the zoo (bnctl models list), a graph file, or any model file, with its weights"},
		&cli.StringFlag{Name: "init", Usage: "use the weights from `FILE`, of bnctl or another program, by " +
			"name and shape"},
		&cli.IntFlag{Name: "classes", Usage: "make a head for `N` classes",
			DefaultText: "the classes of the data, or of the model file"},
		&cli.StringSliceFlag{Name: "freeze", Usage: "do not train tensors that match `PATTERN`: 'layer1.*'"},
		&cli.StringSliceFlag{Name: "train-tensors", Usage: "train constants that match `PATTERN`: '*.pos'"},
		&cli.StringFlag{Name: "val-split", DefaultText: "none", Usage: "set this `SHARE` of each class of --data " +
			"apart for evaluation, in the place of --val: 0.2; auto: a fifth, unless it has a part val"},
		&cli.Uint64Flag{Name: "split-seed", Usage: "of --val-split, whatever --seed is"},
		&cli.StringFlag{Name: "split-groups", DefaultText: "none", Usage: "set whole groups apart, which " +
			"`PATTERN` finds in the names of samples (one patient, one camera), or the column group of a csv:"},
		&cli.Uint64Flag{Name: "seed", Usage: "of initialisation, order, augmentation and dropout"},
		&cli.IntFlag{Name: "epochs", Value: d.Epochs, Usage: "how often every sample is seen"},
		&cli.IntFlag{Name: "steps", Usage: "stop after `N` optimizer steps, instead of epochs",
			DefaultText: "--epochs"},
		&cli.IntFlag{Name: "batch", Value: d.Batch, Usage: "samples of one optimizer step, over all devices"},
		&cli.IntFlag{Name: "replicas", Value: d.Replicas, Usage: "logical copies that share the batch",
			DefaultText: fmt.Sprintf("%d, or the batch if that is smaller", d.Replicas)},
		&cli.IntFlag{Name: "accumulate", Value: d.Accumulate, Usage: "as `N` times --batch and --replicas"},
		&cli.StringFlag{Name: "tail", Value: string(d.Tail),
			Usage: "the last, incomplete batch: keep, pad, repeat or drop"},
		&cli.StringFlag{Name: "bn", Value: string(d.BN),
			Usage: "batch norm over the batch (sync), each replica's share (replica), or frozen"},
		&cli.StringFlag{Name: "bn-stats", Value: string(d.BNStats),
			Usage: "with --bn replica, running statistics from all replicas (pooled, mean) or the first"},
		&cli.StringFlag{Name: "bn-update", Value: string(d.BNUpdate),
			Usage: "with --bn replica, merge the replicas' moments every step (step), up to S steps " +
				"late (async:S), or keep one set each (posthoc)"},
		&cli.StringFlag{Name: "bn-min", Value: d.BNMin,
			Usage: "replicas with fewer than two values: refuse, or use running statistics (running)"},
		&cli.IntFlag{Name: "bn-precise", Usage: "at the end, re-estimate the statistics over `N` samples, " +
			"augmented as in training", DefaultText: "none"},
		&cli.BoolFlag{Name: "bn-precise-plain", Usage: "re-estimate on images without augmentation"},
		&cli.StringFlag{Name: "weight-sync", Value: string(d.WeightSync), Usage: "gradients summed everywhere " +
			"(allreduce), updates made by one device (template), weights averaged every K steps (periodic:K), or " +
			"gradients applied up to S steps late (async:S)"},
		&cli.StringFlag{Name: "optimizer", Value: d.Optimizer, Usage: "sgd, adam, adamw or lars"},
		&cli.StringFlag{Name: "lr", Usage: "learning rate, or `X@B`: X for a batch of B, scaled linearly " +
			"(default: the model's)"},
		&cli.StringSliceFlag{Name: "lr-of", Usage: "multiply the rate of tensors that match: 'layer1.*=0.1x'"},
		&cli.Float64Flag{Name: "momentum", Value: d.Momentum, Usage: "of sgd and lars"},
		&cli.BoolFlag{Name: "nesterov", Usage: "Nesterov momentum"},
		&cli.Float64Flag{Name: "weight-decay", Value: d.WeightDecay, Usage: "of kernels and matrices"},
		&cli.BoolFlag{Name: "decay-all", Usage: "weight decay on gamma, beta and bias too"},
		&cli.StringFlag{Name: "schedule", Value: d.Schedule,
			Usage: "constant, cosine (per step, to 0), poly[:POWER], step:E1,E2 (a tenth from these epochs on), " +
				"onecycle[:SHARE] (up in that share of the run), or plateau[:N] (a tenth after N evaluations in vain)"},
		&cli.Float64Flag{Name: "warmup", Usage: "`EPOCHS` of a linear rise of the learning rate"},
		&cli.Float64Flag{Name: "clip-norm", Usage: "largest norm of the gradient", DefaultText: "no limit"},
		&cli.Float64Flag{Name: "label-smoothing", Usage: "share of the target spread over all classes"},
		&cli.StringFlag{Name: "class-weights", DefaultText: "1",
			Usage: "of the classes in the loss, `W,W`, or by how often they are labels: balanced, auto (balanced " +
				"where one class has most, or less than a tenth of another), or median (masks)"},
		&cli.StringFlag{Name: "sampling", DefaultText: "each once an epoch",
			Usage: "draw samples with replacement, by weights of classes, `W,W` or balanced, or by a column of csv:"},
		&cli.StringFlag{Name: "loss", DefaultText: "by the data",
			Usage: "of numbers: squared, absolute or huber[:DELTA]; of labels that do not exclude each other: " +
				"binary; of boxes: boxes, or yolox (SimOTA)"},
		&cli.StringFlag{Name: "pos-weights", DefaultText: "1", Usage: "of labels that do not exclude each other, " +
			"where they hold: `W,W`, or balanced"},
		&cli.Float64Flag{Name: "aux-weight", DefaultText: "none",
			Usage: "weight of the loss of the auxiliary head, the output aux, which strip removes"},
		&cli.Float64Flag{Name: "ema", Usage: "the template is the exponential average of the weights with " +
			"this `DECAY`", DefaultText: "none"},
		&cli.StringFlag{Name: "augment", Value: d.Augment.String(),
			Usage: "random changes of pictures, 'crop flip jitter:0.4 ...' (docs/data.md lists them), or none, " +
				"cifar (shift, flip), imagenet (resized crop, flip), segment (scale, crop, flip, colours)"},
		&cli.BoolFlag{Name: "qat",
			Usage: "train the weights of --init or --model for int8, and write an int8 template"},
		&cli.IntFlag{Name: "qat-ranges", DefaultText: "none", Usage: "with --qat, move ranges halfway to those " +
			"of the trained weights after each of the first `EPOCHS`"},
		&cli.IntFlag{Name: "qat-fold", DefaultText: "0", Usage: "with --qat, keep batch norms for `EPOCHS`"},
		&cli.StringFlag{Name: "precision", Value: d.Precision,
			Usage: "f32, or bf16: operands of products and stored feature maps are bfloat16, sums stay float32"},
		&cli.StringFlag{Name: "kernels", Value: "auto", Usage: "kernel class: auto, amx, fma or generic"},
		&cli.StringFlag{Name: "save", Value: d.Save,
			Usage: "which weights become the template: last, best (of masks miou, of boxes ap50), or best:FIGURE: " +
				"accuracy, loss, balanced-accuracy, f1, auroc, miou, exact, mae, rmse, r2, ap50"},
		&cli.IntFlag{Name: "eval-every", Value: d.EvalEvery, Usage: "`EPOCHS` between evaluations on --val"},
		&cli.IntFlag{Name: "patience", Usage: "stop after `N` evaluations without progress", DefaultText: "never"},
	}, slices.Concat(sourceFlags(), fileFlags(), []cli.Flag{labelsFlag()}, preprocessFlags())...)
}

// runFlags are the flags that determine how and where a training runs. They do not change the result.
func runFlags() []cli.Flag {
	return append([]cli.Flag{
		&cli.StringFlag{Name: "task", Usage: "refuse other data: segment wants masks, detect boxes, or classify",
			DefaultText: "by the data"},
		&cli.StringFlag{Name: "data", Usage: "`SRC` to train on: " + sources},
		&cli.StringFlag{Name: "val", Usage: "`SRC` to evaluate on after an epoch: its part val, else test"},
		&cli.IntFlag{Name: "workers", Usage: "goroutines that read and augment", DefaultText: "one per core"},
		&cli.StringFlag{Name: "output", Aliases: []string{"o"},
			Usage: "write the template to `FILE` (default: MODEL.bnm)"},
		&cli.StringFlag{Name: "checkpoint",
			Usage: "write checkpoints to `FILE` (default: the template's name with .bnc)"},
		&cli.BoolFlag{Name: "overwrite", Usage: "replace the checkpoint of another run, if one is there"},
		&cli.IntFlag{Name: "checkpoint-every", Usage: "`STEPS` between checkpoints", DefaultText: "one an epoch"},
		&cli.StringFlag{Name: "placement",
			Usage: "how many replicas each device gets: `N,M`, or by their speed: speed",
			DefaultText: "speed; alike for devices of several kernel classes, so that the same command gives the " +
				"same bits"},
		&cli.Float64Flag{Name: "device-timeout", Value: 30,
			Usage: "`SECONDS` after which a device that keeps others waiting is lost, and a run without any gives up"},
		&cli.Float64Flag{Name: "audit", Usage: "repeat this `FRACTION` of the runs of replicas " +
			"on another device, and use a machine with other bits no more"},
		stagesFlag(), planFlag(),
		&cli.StringFlag{Name: "recompute", Value: "auto", Usage: "compute activations again for gradients, " +
			"with less memory and the same bits: none, auto (where memory lacks) or all"},
		&cli.IntFlag{Name: "log-every", Value: 10, Usage: "`STEPS` between progress lines"},
		&cli.StringFlag{Name: "log-dir", Usage: "write curves to `DIR`, for TensorBoard and as metrics.jsonl " +
			"and metrics.csv; with --resume none ends them"},
		&cli.BoolFlag{Name: "view", Usage: "show curves, devices and events on the terminal while it trains; " +
			"--view=false: one line (default: on a terminal of 80x20 and more, but not in CI)"},
		fabricFlag(),
	}, slices.Concat(attest.Flags(), deviceFlags(), joinFlags())...)
}

func trainFlags() []cli.Flag {
	return append(append(recipeFlags(), runFlags()...),
		&cli.StringFlag{Name: "resume",
			Usage: "continue from a checkpoint `FILE`, or auto: from --checkpoint if it exists"},
		&cli.StringFlag{Name: "recipe",
			Usage: "read flags from a YAML `FILE` (recipe: and run:) or a template; the command line wins"},
		&cli.StringFlag{Name: "preset", DefaultText: "none",
			Usage: "flags for a purpose, photos, finetune, from-scratch or detect; the command line and --recipe win"},
		&cli.BoolFlag{Name: "find-lr", Usage: "try learning rates in a hundred steps, and suggest one"},
		&cli.BoolFlag{Name: "print-recipe", Usage: "print the flags as a file for --recipe, and train nothing"})
}

// fromFlags sets the fields of a recipe by the flags. If resume is set, it uses only the flags that the user
// has given.
func fromFlags(c *cli.Context, r *recipe.Recipe, resume bool) error {
	use := func(flag string) bool { return !resume || c.IsSet(flag) }
	for flag, field := range map[string]*int{"steps": &r.Steps, "batch": &r.Batch, "replicas": &r.Replicas,
		"accumulate": &r.Accumulate, "bn-precise": &r.BNPrecise, "eval-every": &r.EvalEvery,
		"patience": &r.Patience, "epochs": &r.Epochs, "qat-ranges": &r.QATRanges, "qat-fold": &r.QATFold} {
		if use(flag) {
			*field = c.Int(flag)
		}
	}
	for flag, field := range map[string]*float64{"momentum": &r.Momentum, "weight-decay": &r.WeightDecay,
		"warmup": &r.Warmup, "clip-norm": &r.ClipNorm, "label-smoothing": &r.LabelSmoothing, "ema": &r.EMA,
		"aux-weight": &r.AuxWeight} {
		if use(flag) {
			*field = c.Float64(flag)
		}
	}
	for flag, field := range map[string]*string{"tail": (*string)(&r.Tail), "bn": (*string)(&r.BN),
		"bn-stats": (*string)(&r.BNStats), "bn-update": (*string)(&r.BNUpdate),
		"weight-sync": (*string)(&r.WeightSync),
		"bn-min":      &r.BNMin, "optimizer": &r.Optimizer, "schedule": &r.Schedule,
		"precision": &r.Precision, "save": &r.Save,
		"class-weights": &r.ClassWeights, "sampling": &r.Sampling, "loss": &r.Loss, "pos-weights": &r.PosWeights} {
		if use(flag) {
			*field = c.String(flag)
		}
	}
	for flag, field := range map[string]*bool{"nesterov": &r.Nesterov, "decay-all": &r.DecayAll,
		"bn-precise-plain": &r.BNPrecisePlain, "qat": &r.QAT} {
		if use(flag) {
			*field = c.Bool(flag)
		}
	}
	if use("augment") {
		if err := r.Augment.UnmarshalText([]byte(c.String("augment"))); err != nil {
			return problem.Wrap("augment", err)
		}
	}
	if use("seed") {
		r.Seed = c.Uint64("seed")
	}
	for flag, field := range map[string]*[]string{"freeze": &r.Freeze, "lr-of": &r.LROf,
		"train-tensors": &r.TrainTensors} {
		if use(flag) {
			*field = c.StringSlice(flag)
		}
	}
	return resolveFlags(c, r, resume)
}

// resolveFlags sets those fields that depend on several flags, or on flags that are not given.
func resolveFlags(c *cli.Context, r *recipe.Recipe, resume bool) error {
	if c.IsSet("steps") {
		if c.IsSet("epochs") {
			return misuse("give one of --epochs and --steps")
		}
		r.Epochs = 0
	}
	if !resume && !c.IsSet("replicas") {
		r.Replicas = min(r.Replicas, r.Batch)
	}
	if resume && !c.IsSet("lr") {
		return nil
	}
	return r.SetLR(c.String("lr"))
}
