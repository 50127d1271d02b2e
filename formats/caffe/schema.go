package caffe

import (
	"fmt"
	"strconv"
	"strings"
	"sync"
)

// schema is the known part of caffe.proto: messages with the number, name and type of every
// field, and how a layer that is built uses it:
//
//	"+"   the field is read
//	"=V"  the field is rejected if its value differs from V
//	"-"   the field does not affect the layer's results in prediction
//
// A field that is not here is rejected: forks of Caffe have many. A * marks a repeated
// field; an enum lists its names and numbers. Messages without marks belong to layers that
// are not built; they are here so that text with them can be read.
const schema = `
NetParameter
 1 name string
 2 layers V1LayerParameter*
 3 input string*
 4 input_dim int32*
 5 force_backward bool
 6 state NetState
 7 debug_info bool
 8 input_shape BlobShape*
 100 layer LayerParameter*

LayerParameter
 1 name string
 2 type string
 3 bottom string*
 4 top string*
 5 loss_weight float*
 6 param ParamSpec*
 8 include NetStateRule*
 9 exclude NetStateRule*
 10 phase Phase
 11 propagate_down bool*
 100 transform_param TransformationParameter
 101 loss_param LossParameter
 102 accuracy_param AccuracyParameter
 104 concat_param ConcatParameter
 106 convolution_param ConvolutionParameter
 107 data_param DataParameter
 108 dropout_param DropoutParameter
 109 dummy_data_param DummyDataParameter
 110 eltwise_param EltwiseParameter
 112 hdf5_data_param HDF5DataParameter
 114 hinge_loss_param HingeLossParameter
 115 image_data_param ImageDataParameter
 116 infogain_loss_param InfogainLossParameter
 117 inner_product_param InnerProductParameter
 118 lrn_param LRNParameter
 119 memory_data_param MemoryDataParameter
 121 pooling_param PoolingParameter
 122 power_param PowerParameter
 123 relu_param ReLUParameter
 124 sigmoid_param SigmoidParameter
 125 softmax_param SoftmaxParameter
 126 slice_param SliceParameter
 127 tanh_param TanHParameter
 129 window_data_param WindowDataParameter
 130 python_param PythonParameter
 131 prelu_param PReLUParameter
 133 reshape_param ReshapeParameter
 135 flatten_param FlattenParameter
 138 tile_param TileParameter
 139 batch_norm_param BatchNormParameter
 140 elu_param ELUParameter
 141 bias_param BiasParameter
 142 scale_param ScaleParameter
 143 input_param InputParameter
 144 crop_param CropParameter
 202 permute_param PermuteParameter
 206 norm_param NormalizeParameter

V1LayerParameter
 2 bottom string*
 3 top string*
 4 name string
 5 type V1Type
 7 blobs_lr float*
 8 weight_decay float*
 9 concat_param ConcatParameter
 10 convolution_param ConvolutionParameter
 11 data_param DataParameter
 12 dropout_param DropoutParameter
 13 hdf5_data_param HDF5DataParameter
 15 image_data_param ImageDataParameter
 16 infogain_loss_param InfogainLossParameter
 17 inner_product_param InnerProductParameter
 18 lrn_param LRNParameter
 19 pooling_param PoolingParameter
 20 window_data_param WindowDataParameter
 21 power_param PowerParameter
 22 memory_data_param MemoryDataParameter
 24 eltwise_param EltwiseParameter
 26 dummy_data_param DummyDataParameter
 27 accuracy_param AccuracyParameter
 29 hinge_loss_param HingeLossParameter
 30 relu_param ReLUParameter
 31 slice_param SliceParameter
 32 include NetStateRule*
 33 exclude NetStateRule*
 35 loss_weight float*
 36 transform_param TransformationParameter
 37 tanh_param TanHParameter
 38 sigmoid_param SigmoidParameter
 39 softmax_param SoftmaxParameter
 42 loss_param LossParameter
 1001 param string*

enum V1Type
	NONE=0 Accuracy.ACCURACY=1 BNLL=2 Concat.CONCAT=3 Convolution.CONVOLUTION=4 Data.DATA=5
	Dropout.DROPOUT=6 EuclideanLoss.EUCLIDEAN_LOSS=7 Flatten.FLATTEN=8 HDF5Data.HDF5_DATA=9
	HDF5Output.HDF5_OUTPUT=10 Im2col.IM2COL=11 ImageData.IMAGE_DATA=12
	InfogainLoss.INFOGAIN_LOSS=13 InnerProduct.INNER_PRODUCT=14 LRN=15
	MultinomialLogisticLoss.MULTINOMIAL_LOGISTIC_LOSS=16 Pooling.POOLING=17 ReLU.RELU=18
	Sigmoid.SIGMOID=19 Softmax.SOFTMAX=20 SoftmaxWithLoss.SOFTMAX_LOSS=21 Split.SPLIT=22
	TanH.TANH=23 WindowData.WINDOW_DATA=24 Eltwise.ELTWISE=25 Power.POWER=26
	SigmoidCrossEntropyLoss.SIGMOID_CROSS_ENTROPY_LOSS=27 HingeLoss.HINGE_LOSS=28
	MemoryData.MEMORY_DATA=29 ArgMax.ARGMAX=30 Threshold.THRESHOLD=31 DummyData.DUMMY_DATA=32
	Slice.SLICE=33 MVN=34 AbsVal.ABSVAL=35 Silence.SILENCE=36 ContrastiveLoss.CONTRASTIVE_LOSS=37
	Exp.EXP=38 Deconvolution.DECONVOLUTION=39
enum Phase TRAIN=0 TEST=1
enum Engine DEFAULT=0 CAFFE=1 CUDNN=2
enum PoolMethod MAX=0 AVE=1 STOCHASTIC=2
enum RoundMode CEIL=0 FLOOR=1
enum EltwiseOp PROD=0 SUM=1 MAX=2
enum NormRegion ACROSS_CHANNELS=0 WITHIN_CHANNEL=1
enum VarianceNorm FAN_IN=0 FAN_OUT=1 AVERAGE=2
enum NormalizationMode FULL=0 VALID=1 BATCH_SIZE=2 NONE=3
enum DimCheckMode STRICT=0 PERMISSIVE=1
enum HingeNorm NO_NORM=0 L1=1 L2=2
enum DB LEVELDB=0 LMDB=1

BatchNormParameter
 1 use_global_stats bool +
 2 moving_average_fraction float +
 3 eps float +
 5 scale_filler FillerParameter -
 6 bias_filler FillerParameter -
 15 engine Engine -
BiasParameter
 1 axis int32 +
 2 num_axes int32 +
 3 filler FillerParameter -
ConcatParameter
 1 concat_dim uint32 +
 2 axis int32 +
ConvolutionParameter
 1 num_output uint32 +
 2 bias_term bool +
 3 pad uint32* +
 4 kernel_size uint32* +
 5 group uint32 +
 6 stride uint32* +
 7 weight_filler FillerParameter -
 8 bias_filler FillerParameter -
 9 pad_h uint32 +
 10 pad_w uint32 +
 11 kernel_h uint32 +
 12 kernel_w uint32 +
 13 stride_h uint32 +
 14 stride_w uint32 +
 15 engine Engine -
 16 axis int32 =1
 17 force_nd_im2col bool -
 18 dilation uint32* +
CropParameter
 1 axis int32 +
 2 offset uint32* +
DropoutParameter
 1 dropout_ratio float +
 2 scale_train bool =1
EltwiseParameter
 1 operation EltwiseOp +
 2 coeff float* +
 3 stable_prod_grad bool -
ELUParameter
 1 alpha float +
FlattenParameter
 1 axis int32 +
 2 end_axis int32 +
InnerProductParameter
 1 num_output uint32 +
 2 bias_term bool +
 3 weight_filler FillerParameter -
 4 bias_filler FillerParameter -
 5 axis int32 +
 6 transpose bool +
InputParameter
 1 shape BlobShape* +
LRNParameter
 1 local_size uint32 +
 2 alpha float +
 3 beta float +
 4 norm_region NormRegion +
 5 k float +
 6 engine Engine -
NormalizeParameter
 1 across_spatial bool +
 2 scale_filler FillerParameter -
 3 channel_shared bool +
 4 eps float +
PermuteParameter
 1 order uint32* +
PoolingParameter
 1 pool PoolMethod +
 2 kernel_size uint32 +
 3 stride uint32 +
 4 pad uint32 +
 5 kernel_h uint32 +
 6 kernel_w uint32 +
 7 stride_h uint32 +
 8 stride_w uint32 +
 9 pad_h uint32 +
 10 pad_w uint32 +
 11 engine Engine -
 12 global_pooling bool +
 13 round_mode RoundMode +
 1013 ceil_mode bool +
PowerParameter
 1 power float +
 2 scale float +
 3 shift float +
PReLUParameter
 1 filler FillerParameter -
 2 channel_shared bool +
ReLUParameter
 1 negative_slope float +
 2 engine Engine -
ReshapeParameter
 1 shape BlobShape +
 2 axis int32 +
 3 num_axes int32 +
ScaleParameter
 1 axis int32 +
 2 num_axes int32 +
 3 filler FillerParameter -
 4 bias_term bool +
 5 bias_filler FillerParameter -
SigmoidParameter
 1 engine Engine -
SliceParameter
 1 slice_dim uint32 +
 2 slice_point uint32* +
 3 axis int32 +
SoftmaxParameter
 1 engine Engine -
 2 axis int32 +
TanHParameter
 1 engine Engine -
TileParameter
 1 axis int32 +
 2 tiles int32 +

BlobShape
 1 dim int64*
FillerParameter
 1 type string
 2 value float
 3 min float
 4 max float
 5 mean float
 6 std float
 7 sparse int32
 8 variance_norm VarianceNorm
ParamSpec
 1 name string
 2 share_mode DimCheckMode
 3 lr_mult float
 4 decay_mult float
NetState
 1 phase Phase
 2 level int32
 3 stage string*
NetStateRule
 1 phase Phase
 2 min_level int32
 3 max_level int32
 4 stage string*
 5 not_stage string*
TransformationParameter
 1 scale float
 2 mirror bool
 3 crop_size uint32
 4 mean_file string
 5 mean_value float*
 6 force_color bool
 7 force_gray bool
LossParameter
 1 ignore_label int32
 2 normalize bool
 3 normalization NormalizationMode
AccuracyParameter
 1 top_k uint32
 2 axis int32
 3 ignore_label int32
DataParameter
 1 source string
 2 scale float
 3 mean_file string
 4 batch_size uint32
 5 crop_size uint32
 6 mirror bool
 7 rand_skip uint32
 8 backend DB
 9 force_encoded_color bool
 10 prefetch uint32
DummyDataParameter
 1 data_filler FillerParameter*
 2 num uint32*
 3 channels uint32*
 4 height uint32*
 5 width uint32*
 6 shape BlobShape*
HDF5DataParameter
 1 source string
 2 batch_size uint32
 3 shuffle bool
HingeLossParameter
 1 norm HingeNorm
ImageDataParameter
 1 source string
 2 scale float
 3 mean_file string
 4 batch_size uint32
 5 crop_size uint32
 6 mirror bool
 7 rand_skip uint32
 8 shuffle bool
 9 new_height uint32
 10 new_width uint32
 11 is_color bool
 12 root_folder string
InfogainLossParameter
 1 source string
 2 axis int32
MemoryDataParameter
 1 batch_size uint32
 2 channels uint32
 3 height uint32
 4 width uint32
PythonParameter
 1 module string
 2 layer string
 3 param_str string
 4 share_in_parallel bool
WindowDataParameter
 1 source string
 2 scale float
 3 mean_file string
 4 batch_size uint32
 5 crop_size uint32
 6 mirror bool
 7 fg_threshold float
 8 bg_threshold float
 9 fg_fraction float
 10 context_pad uint32
 11 crop_mode string
 12 cache_images bool
 13 root_folder string
`

// protoMessage is a message of caffe.proto.
type protoMessage struct {
	name   string
	fields []protoField
}

// protoField is a field of a message.
type protoField struct {
	number   int
	name     string
	kind     string // "uint32", or the name of an enum or a message
	repeated bool
	use      string // "+", "-", "=V" or ""
}

// protoEnum is an enum of caffe.proto: names with numbers. The part of a name before a
// point is the type of layer that it denotes.
type protoEnum struct {
	name   string
	values []enumValue
}

type enumValue struct {
	name, layer string
	number      int
}

// parsed returns the schema. It is parsed on first use.
var parsed = sync.OnceValues(func() (messages []protoMessage, enums []protoEnum) {
	for line := range strings.Lines(schema) {
		words := strings.Fields(line)
		switch {
		case len(words) == 0:
		case line[0] == '\t': // more values of the previous enum
			last := &enums[len(enums)-1]
			last.values = append(last.values, parseValues(words)...)
		case words[0] == "enum":
			enums = append(enums, protoEnum{words[1], parseValues(words[2:])})
		case len(words) == 1:
			messages = append(messages, protoMessage{name: words[0]})
		default:
			last := &messages[len(messages)-1]
			last.fields = append(last.fields, parseField(words))
		}
	}
	return messages, enums
})

func parseField(words []string) protoField {
	f := protoField{number: mustNumber(words[0]), name: words[1]}
	f.kind, f.repeated = strings.CutSuffix(words[2], "*")
	if len(words) > 3 {
		f.use = words[3]
	}
	return f
}

func parseValues(words []string) []enumValue {
	var values []enumValue
	for _, w := range words {
		label, number, _ := strings.Cut(w, "=")
		layer, label, ok := strings.Cut(label, ".")
		if !ok {
			label = layer
		}
		values = append(values, enumValue{label, layer, mustNumber(number)})
	}
	return values
}

// mustNumber reads a number of the schema, which is part of the program.
func mustNumber(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		panic(fmt.Sprintf("caffe: schema: %v", err))
	}
	return n
}

// messageNamed returns a message of the schema, or nil.
func messageNamed(name string) *protoMessage {
	messages, _ := parsed()
	for i := range messages {
		if messages[i].name == name {
			return &messages[i]
		}
	}
	return nil
}

// settingsOf returns the field of LayerParameter that has a number.
func settingsOf(number int) *protoField { return messageNamed("LayerParameter").field(number) }

// field returns the field with that number, or nil.
func (m *protoMessage) field(number int) *protoField {
	for i := range m.fields {
		if m.fields[i].number == number {
			return &m.fields[i]
		}
	}
	return nil
}
