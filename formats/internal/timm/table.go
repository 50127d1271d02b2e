package timm

// tables has the families of networks that have the same layers in the same order in timm
// and torchvision.
var tables = []table{
	{"regnet-", "stem.conv.weight", `
stem.conv               stem.0
stem.bn                 stem.1
s#.b#.conv1.conv        trunk_output.block{A}.block{A}-{B-1}.f.a.0
s#.b#.conv1.bn          trunk_output.block{A}.block{A}-{B-1}.f.a.1
s#.b#.conv2.conv        trunk_output.block{A}.block{A}-{B-1}.f.b.0
s#.b#.conv2.bn          trunk_output.block{A}.block{A}-{B-1}.f.b.1
s#.b#.se.fc1            trunk_output.block{A}.block{A}-{B-1}.f.se.fc1
s#.b#.se.fc2            trunk_output.block{A}.block{A}-{B-1}.f.se.fc2
s#.b#.conv3.conv        trunk_output.block{A}.block{A}-{B-1}.f.c.0
s#.b#.conv3.bn          trunk_output.block{A}.block{A}-{B-1}.f.c.1
s#.b#.downsample.conv   trunk_output.block{A}.block{A}-{B-1}.proj.0
s#.b#.downsample.bn     trunk_output.block{A}.block{A}-{B-1}.proj.1
head.fc                 fc`},
	{"vgg", "pre_logits.fc1.weight", `
pre_logits.fc1          classifier.0
pre_logits.fc2          classifier.3
head.fc                 classifier.6`},
	{"convnext-", "stages.0.blocks.0.gamma", `
stem.#                         features.0.{A}
stages.#.downsample.#          features.{2A}.{B}
stages.#.blocks.#.gamma        features.{2A+1}.{B}.layer_scale
stages.#.blocks.#.conv_dw      features.{2A+1}.{B}.block.0
stages.#.blocks.#.norm         features.{2A+1}.{B}.block.2
stages.#.blocks.#.mlp.fc1      features.{2A+1}.{B}.block.3
stages.#.blocks.#.mlp.fc2      features.{2A+1}.{B}.block.5
head.norm                      classifier.0
head.fc                        classifier.2`},
	{"vit-", "blocks.0.attn.qkv.weight", `
cls_token                      class_token
pos_embed                      encoder.pos_embedding
patch_embed.proj               conv_proj
blocks.#.norm1                 encoder.layers.encoder_layer_{A}.ln_1
blocks.#.attn.qkv.weight       encoder.layers.encoder_layer_{A}.self_attention.in_proj_weight
blocks.#.attn.qkv.bias         encoder.layers.encoder_layer_{A}.self_attention.in_proj_bias
blocks.#.attn.proj             encoder.layers.encoder_layer_{A}.self_attention.out_proj
blocks.#.norm2                 encoder.layers.encoder_layer_{A}.ln_2
blocks.#.mlp.fc1               encoder.layers.encoder_layer_{A}.mlp.0
blocks.#.mlp.fc2               encoder.layers.encoder_layer_{A}.mlp.3
norm                           encoder.ln
head                           heads.head`},
	// Before timm 0.9 a stage of Swin ended with its downsampling layer.
	{"swin-", "layers.0.downsample.norm.weight", `
layers.#.downsample.norm       features.{2A+2}.norm
layers.#.downsample.reduction  features.{2A+2}.reduction` + swinRows},
	{"swin-", "layers.0.blocks.0.attn.qkv.weight", `
layers.#.downsample.norm       features.{2A}.norm
layers.#.downsample.reduction  features.{2A}.reduction` + swinRows},
}

const swinRows = `
patch_embed.proj               features.0.0
patch_embed.norm               features.0.2
layers.#.blocks.#.norm1        features.{2A+1}.{B}.norm1
layers.#.blocks.#.norm2        features.{2A+1}.{B}.norm2
layers.#.blocks.#.attn         features.{2A+1}.{B}.attn
layers.#.blocks.#.attn.qkv     features.{2A+1}.{B}.attn.qkv
layers.#.blocks.#.attn.proj    features.{2A+1}.{B}.attn.proj
layers.#.blocks.#.mlp.fc1      features.{2A+1}.{B}.mlp.0
layers.#.blocks.#.mlp.fc2      features.{2A+1}.{B}.mlp.3
head.fc                        head`
