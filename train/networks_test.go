package train

// networks are small networks for the tests; the device ref trains them in milliseconds.
var networks = map[string]string{
	"cells": `bnctl graph 1
graph "cells"
state fine.weight f32[4,3,8,8] weight he_normal(0)
state middle.weight f32[4,4,2,2] weight he_normal(0)
state coarse.weight f32[4,4,2,2] weight he_normal(0)
state head.weight f32[7,4,1,1] weight he_normal(0)
state head.bias f32[7] bias zeros
state bn1.weight f32[4] gamma ones
state bn1.bias f32[4] beta zeros
state bn1.running_mean f32[4] mean zeros
state bn1.running_var f32[4] variance ones
state bn2.weight f32[4] gamma ones
state bn2.bias f32[4] beta zeros
state bn2.running_mean f32[4] mean zeros
state bn2.running_var f32[4] variance ones
func main(x rows u8[32,32,3]) {
  image = image(x)
  fine = conv(image, @fine.weight, stride=[8,8])
  bn1 = batch_norm(fine, @bn1.weight, @bn1.bias, @bn1.running_mean, @bn1.running_var)
  relu1 = relu(bn1)
  middle = conv(relu1, @middle.weight, stride=[2,2])
  bn2 = batch_norm(middle, @bn2.weight, @bn2.bias, @bn2.running_mean, @bn2.running_var)
  relu2 = relu(bn2)
  coarse = conv(relu2, @coarse.weight, stride=[2,2])
  out1 = conv(relu1, @head.weight, @head.bias)
  out2 = conv(relu2, @head.weight, @head.bias)
  out3 = conv(coarse, @head.weight, @head.bias)
  flat1 = reshape(out1, shape=[7,16])
  flat2 = reshape(out2, shape=[7,4])
  flat3 = reshape(out3, shape=[7,1])
  all = concat(flat1, flat2, flat3, axis=1)
  return yolox rows = all
}
`,
	"fcos": `bnctl graph 1
graph "fcos"
state fine.weight f32[4,3,8,8] weight he_normal(0)
state half.weight f32[4,4,2,2] weight he_normal(0)
state same.weight f32[4,4,1,1] weight he_normal(0)
state sides.weight f32[4,4,1,1] weight he_normal(0)
state sides.bias f32[4] bias ones
state head.weight f32[3,4,1,1] weight he_normal(0)
state head.bias f32[3] bias zeros
state bn1.weight f32[4] gamma ones
state bn1.bias f32[4] beta zeros
state bn1.running_mean f32[4] mean zeros
state bn1.running_var f32[4] variance ones
func main(x rows u8[32,32,3]) {
  image = image(x)
  fine = conv(image, @fine.weight, stride=[8,8])
  bn1 = batch_norm(fine, @bn1.weight, @bn1.bias, @bn1.running_mean, @bn1.running_var)
  p3 = relu(bn1)
  p4 = conv(p3, @half.weight, stride=[2,2])
  p5 = conv(p4, @half.weight, stride=[2,2])
  p6 = conv(p5, @same.weight)
  p7 = conv(p6, @same.weight)
  raw3 = conv(p3, @sides.weight, @sides.bias)
  sides3 = relu(raw3)
  class3 = conv(p3, @head.weight, @head.bias)
  join3 = concat(sides3, class3, axis=0)
  flat3 = reshape(join3, shape=[7,16])
  raw4 = conv(p4, @sides.weight, @sides.bias)
  sides4 = relu(raw4)
  class4 = conv(p4, @head.weight, @head.bias)
  join4 = concat(sides4, class4, axis=0)
  flat4 = reshape(join4, shape=[7,4])
  raw5 = conv(p5, @sides.weight, @sides.bias)
  sides5 = relu(raw5)
  class5 = conv(p5, @head.weight, @head.bias)
  join5 = concat(sides5, class5, axis=0)
  flat5 = reshape(join5, shape=[7,1])
  raw6 = conv(p6, @sides.weight, @sides.bias)
  sides6 = relu(raw6)
  class6 = conv(p6, @head.weight, @head.bias)
  join6 = concat(sides6, class6, axis=0)
  flat6 = reshape(join6, shape=[7,1])
  raw7 = conv(p7, @sides.weight, @sides.bias)
  sides7 = relu(raw7)
  class7 = conv(p7, @head.weight, @head.bias)
  join7 = concat(sides7, class7, axis=0)
  flat7 = reshape(join7, shape=[7,1])
  all = concat(flat3, flat4, flat5, flat6, flat7, axis=1)
  return fcos rows = all
}
`,
	"retinanet": `bnctl graph 1
graph "retinanet"
state fine.weight f32[4,3,8,8] weight he_normal(0)
state half.weight f32[4,4,2,2] weight he_normal(0)
state same.weight f32[4,4,1,1] weight he_normal(0)
state boxes.weight f32[36,4,1,1] weight he_normal(0)
state classes.weight f32[18,4,1,1] weight he_normal(0)
state classes.bias f32[18] bias zeros
state bn1.weight f32[4] gamma ones
state bn1.bias f32[4] beta zeros
state bn1.running_mean f32[4] mean zeros
state bn1.running_var f32[4] variance ones
func main(x rows u8[32,32,3]) {
  image = image(x)
  fine = conv(image, @fine.weight, stride=[8,8])
  bn1 = batch_norm(fine, @bn1.weight, @bn1.bias, @bn1.running_mean, @bn1.running_var)
  p3 = relu(bn1)
  p4 = conv(p3, @half.weight, stride=[2,2])
  p5 = conv(p4, @half.weight, stride=[2,2])
  p6 = conv(p5, @same.weight)
  p7 = conv(p6, @same.weight)
  raw3 = conv(p3, @boxes.weight)
  split3 = reshape(raw3, shape=[9,4,16])
  turned3 = transpose(split3, perm=[1,2,0])
  boxes3 = reshape(turned3, shape=[4,144])
  class3 = conv(p3, @classes.weight, @classes.bias)
  parted3 = reshape(class3, shape=[9,2,16])
  moved3 = transpose(parted3, perm=[1,2,0])
  classes3 = reshape(moved3, shape=[2,144])
  join3 = concat(boxes3, classes3, axis=0)
  raw4 = conv(p4, @boxes.weight)
  split4 = reshape(raw4, shape=[9,4,4])
  turned4 = transpose(split4, perm=[1,2,0])
  boxes4 = reshape(turned4, shape=[4,36])
  class4 = conv(p4, @classes.weight, @classes.bias)
  parted4 = reshape(class4, shape=[9,2,4])
  moved4 = transpose(parted4, perm=[1,2,0])
  classes4 = reshape(moved4, shape=[2,36])
  join4 = concat(boxes4, classes4, axis=0)
  raw5 = conv(p5, @boxes.weight)
  split5 = reshape(raw5, shape=[9,4,1])
  turned5 = transpose(split5, perm=[1,2,0])
  boxes5 = reshape(turned5, shape=[4,9])
  class5 = conv(p5, @classes.weight, @classes.bias)
  parted5 = reshape(class5, shape=[9,2,1])
  moved5 = transpose(parted5, perm=[1,2,0])
  classes5 = reshape(moved5, shape=[2,9])
  join5 = concat(boxes5, classes5, axis=0)
  raw6 = conv(p6, @boxes.weight)
  split6 = reshape(raw6, shape=[9,4,1])
  turned6 = transpose(split6, perm=[1,2,0])
  boxes6 = reshape(turned6, shape=[4,9])
  class6 = conv(p6, @classes.weight, @classes.bias)
  parted6 = reshape(class6, shape=[9,2,1])
  moved6 = transpose(parted6, perm=[1,2,0])
  classes6 = reshape(moved6, shape=[2,9])
  join6 = concat(boxes6, classes6, axis=0)
  raw7 = conv(p7, @boxes.weight)
  split7 = reshape(raw7, shape=[9,4,1])
  turned7 = transpose(split7, perm=[1,2,0])
  boxes7 = reshape(turned7, shape=[4,9])
  class7 = conv(p7, @classes.weight, @classes.bias)
  parted7 = reshape(class7, shape=[9,2,1])
  moved7 = transpose(parted7, perm=[1,2,0])
  classes7 = reshape(moved7, shape=[2,9])
  join7 = concat(boxes7, classes7, axis=0)
  all = concat(join3, join4, join5, join6, join7, axis=1)
  return retinanet rows = all
}
`,
	"retinanet2": `bnctl graph 1
graph "retinanet2"
state fine.weight f32[4,3,8,8] weight he_normal(0)
state half.weight f32[4,4,2,2] weight he_normal(0)
state same.weight f32[4,4,1,1] weight he_normal(0)
state boxes.weight f32[36,4,1,1] weight he_normal(0)
state classes.weight f32[18,4,1,1] weight he_normal(0)
state classes.bias f32[18] bias zeros
state bn1.weight f32[4] gamma ones
state bn1.bias f32[4] beta zeros
state bn1.running_mean f32[4] mean zeros
state bn1.running_var f32[4] variance ones
func main(x rows u8[32,32,3]) {
  image = image(x)
  fine = conv(image, @fine.weight, stride=[8,8])
  bn1 = batch_norm(fine, @bn1.weight, @bn1.bias, @bn1.running_mean, @bn1.running_var)
  p3 = relu(bn1)
  p4 = conv(p3, @half.weight, stride=[2,2])
  p5 = conv(p4, @half.weight, stride=[2,2])
  p6 = conv(p5, @same.weight)
  p7 = conv(p6, @same.weight)
  raw3 = conv(p3, @boxes.weight)
  split3 = reshape(raw3, shape=[9,4,16])
  turned3 = transpose(split3, perm=[1,2,0])
  boxes3 = reshape(turned3, shape=[4,144])
  class3 = conv(p3, @classes.weight, @classes.bias)
  parted3 = reshape(class3, shape=[9,2,16])
  moved3 = transpose(parted3, perm=[1,2,0])
  classes3 = reshape(moved3, shape=[2,144])
  join3 = concat(boxes3, classes3, axis=0)
  raw4 = conv(p4, @boxes.weight)
  split4 = reshape(raw4, shape=[9,4,4])
  turned4 = transpose(split4, perm=[1,2,0])
  boxes4 = reshape(turned4, shape=[4,36])
  class4 = conv(p4, @classes.weight, @classes.bias)
  parted4 = reshape(class4, shape=[9,2,4])
  moved4 = transpose(parted4, perm=[1,2,0])
  classes4 = reshape(moved4, shape=[2,36])
  join4 = concat(boxes4, classes4, axis=0)
  raw5 = conv(p5, @boxes.weight)
  split5 = reshape(raw5, shape=[9,4,1])
  turned5 = transpose(split5, perm=[1,2,0])
  boxes5 = reshape(turned5, shape=[4,9])
  class5 = conv(p5, @classes.weight, @classes.bias)
  parted5 = reshape(class5, shape=[9,2,1])
  moved5 = transpose(parted5, perm=[1,2,0])
  classes5 = reshape(moved5, shape=[2,9])
  join5 = concat(boxes5, classes5, axis=0)
  raw6 = conv(p6, @boxes.weight)
  split6 = reshape(raw6, shape=[9,4,1])
  turned6 = transpose(split6, perm=[1,2,0])
  boxes6 = reshape(turned6, shape=[4,9])
  class6 = conv(p6, @classes.weight, @classes.bias)
  parted6 = reshape(class6, shape=[9,2,1])
  moved6 = transpose(parted6, perm=[1,2,0])
  classes6 = reshape(moved6, shape=[2,9])
  join6 = concat(boxes6, classes6, axis=0)
  raw7 = conv(p7, @boxes.weight)
  split7 = reshape(raw7, shape=[9,4,1])
  turned7 = transpose(split7, perm=[1,2,0])
  boxes7 = reshape(turned7, shape=[4,9])
  class7 = conv(p7, @classes.weight, @classes.bias)
  parted7 = reshape(class7, shape=[9,2,1])
  moved7 = transpose(parted7, perm=[1,2,0])
  classes7 = reshape(moved7, shape=[2,9])
  join7 = concat(boxes7, classes7, axis=0)
  all = concat(join3, join4, join5, join6, join7, axis=1)
  return retinanet_v2 rows = all
}
`,
	"ssd": `bnctl graph 1
graph "ssd"
state fine.weight f32[4,3,16,16] weight he_normal(0)
state half.weight f32[4,4,2,2] weight he_normal(0)
state same.weight f32[4,4,1,1] weight he_normal(0)
state boxes.weight f32[24,4,1,1] weight he_normal(0)
state classes.weight f32[18,4,1,1] weight he_normal(0)
state classes.bias f32[18] bias zeros
state bn1.weight f32[4] gamma ones
state bn1.bias f32[4] beta zeros
state bn1.running_mean f32[4] mean zeros
state bn1.running_var f32[4] variance ones
func main(x rows u8[32,32,3]) {
  image = image(x)
  fine = conv(image, @fine.weight, stride=[16,16])
  bn1 = batch_norm(fine, @bn1.weight, @bn1.bias, @bn1.running_mean, @bn1.running_var)
  p1 = relu(bn1)
  p2 = conv(p1, @half.weight, stride=[2,2])
  p3 = conv(p2, @same.weight)
  p4 = conv(p3, @same.weight)
  p5 = conv(p4, @same.weight)
  p6 = conv(p5, @same.weight)
  raw1 = conv(p1, @boxes.weight)
  split1 = reshape(raw1, shape=[6,4,4])
  turned1 = transpose(split1, perm=[1,2,0])
  boxes1 = reshape(turned1, shape=[4,24])
  class1 = conv(p1, @classes.weight, @classes.bias)
  parted1 = reshape(class1, shape=[6,3,4])
  moved1 = transpose(parted1, perm=[1,2,0])
  classes1 = reshape(moved1, shape=[3,24])
  join1 = concat(boxes1, classes1, axis=0)
  raw2 = conv(p2, @boxes.weight)
  split2 = reshape(raw2, shape=[6,4,1])
  turned2 = transpose(split2, perm=[1,2,0])
  boxes2 = reshape(turned2, shape=[4,6])
  class2 = conv(p2, @classes.weight, @classes.bias)
  parted2 = reshape(class2, shape=[6,3,1])
  moved2 = transpose(parted2, perm=[1,2,0])
  classes2 = reshape(moved2, shape=[3,6])
  join2 = concat(boxes2, classes2, axis=0)
  raw3 = conv(p3, @boxes.weight)
  split3 = reshape(raw3, shape=[6,4,1])
  turned3 = transpose(split3, perm=[1,2,0])
  boxes3 = reshape(turned3, shape=[4,6])
  class3 = conv(p3, @classes.weight, @classes.bias)
  parted3 = reshape(class3, shape=[6,3,1])
  moved3 = transpose(parted3, perm=[1,2,0])
  classes3 = reshape(moved3, shape=[3,6])
  join3 = concat(boxes3, classes3, axis=0)
  raw4 = conv(p4, @boxes.weight)
  split4 = reshape(raw4, shape=[6,4,1])
  turned4 = transpose(split4, perm=[1,2,0])
  boxes4 = reshape(turned4, shape=[4,6])
  class4 = conv(p4, @classes.weight, @classes.bias)
  parted4 = reshape(class4, shape=[6,3,1])
  moved4 = transpose(parted4, perm=[1,2,0])
  classes4 = reshape(moved4, shape=[3,6])
  join4 = concat(boxes4, classes4, axis=0)
  raw5 = conv(p5, @boxes.weight)
  split5 = reshape(raw5, shape=[6,4,1])
  turned5 = transpose(split5, perm=[1,2,0])
  boxes5 = reshape(turned5, shape=[4,6])
  class5 = conv(p5, @classes.weight, @classes.bias)
  parted5 = reshape(class5, shape=[6,3,1])
  moved5 = transpose(parted5, perm=[1,2,0])
  classes5 = reshape(moved5, shape=[3,6])
  join5 = concat(boxes5, classes5, axis=0)
  raw6 = conv(p6, @boxes.weight)
  split6 = reshape(raw6, shape=[6,4,1])
  turned6 = transpose(split6, perm=[1,2,0])
  boxes6 = reshape(turned6, shape=[4,6])
  class6 = conv(p6, @classes.weight, @classes.bias)
  parted6 = reshape(class6, shape=[6,3,1])
  moved6 = transpose(parted6, perm=[1,2,0])
  classes6 = reshape(moved6, shape=[3,6])
  join6 = concat(boxes6, classes6, axis=0)
  all = concat(join1, join2, join3, join4, join5, join6, axis=1)
  return ssd rows = all
}
`,
	"deep": `bnctl graph 1
graph "deep"
state conv1.weight f32[3,1,3,3] weight he_normal(0)
state conv2.weight f32[3,3,3,3] weight he_normal(0)
state conv3.weight f32[3,3,3,3] weight he_normal(0)
state bn1.weight f32[3] gamma ones
state bn1.bias f32[3] beta zeros
state bn1.running_mean f32[3] mean zeros
state bn1.running_var f32[3] variance ones
state bn2.weight f32[3] gamma ones
state bn2.bias f32[3] beta zeros
state bn2.running_mean f32[3] mean zeros
state bn2.running_var f32[3] variance ones
state bn3.weight f32[3] gamma ones
state bn3.bias f32[3] beta zeros
state bn3.running_mean f32[3] mean zeros
state bn3.running_var f32[3] variance ones
state fc.weight f32[10,147] weight he_normal(0)
state fc.bias f32[10] bias zeros
func main(x rows u8[28,28,1]) {
  image = image(x, mean=[0.1307], std=[0.3081])
  conv1 = conv(image, @conv1.weight, stride=[4,4])
  bn1 = batch_norm(conv1, @bn1.weight, @bn1.bias, @bn1.running_mean, @bn1.running_var)
  relu1 = relu(bn1)
  conv2 = conv(relu1, @conv2.weight, pad=[1,1,1,1])
  bn2 = batch_norm(conv2, @bn2.weight, @bn2.bias, @bn2.running_mean, @bn2.running_var)
  relu2 = relu(bn2)
  conv3 = conv(relu2, @conv3.weight, pad=[1,1,1,1])
  bn3 = batch_norm(conv3, @bn3.weight, @bn3.bias, @bn3.running_mean, @bn3.running_var)
  relu3 = relu(bn3)
  flat = reshape(relu3, shape=[147])
  fc = dense(flat, @fc.weight, @fc.bias)
  return logits rows = fc
}
`,
	"convolution": `bnctl graph 1
graph "convolution"
state conv.weight f32[3,1,3,3] weight he_normal(0)
state bn1.weight f32[3] gamma ones
state bn1.bias f32[3] beta zeros
state bn1.running_mean f32[3] mean zeros
state bn1.running_var f32[3] variance ones
state fc.weight f32[10,147] weight he_normal(0)
state fc.bias f32[10] bias zeros
func main(x rows u8[28,28,1]) {
  image = image(x, mean=[0.1307], std=[0.3081])
  conv = conv(image, @conv.weight, stride=[4,4])
  bn1 = batch_norm(conv, @bn1.weight, @bn1.bias, @bn1.running_mean, @bn1.running_var)
  relu1 = relu(bn1)
  flat = reshape(relu1, shape=[147])
  fc = dense(flat, @fc.weight, @fc.bias)
  return logits rows = fc
}
`,
	"dense": `bnctl graph 1
graph "dense"
state fc1.weight f32[16,196] weight he_normal(0)
state bn1.weight f32[16] gamma ones
state bn1.bias f32[16] beta zeros
state bn1.running_mean f32[16] mean zeros
state bn1.running_var f32[16] variance ones
state fc2.weight f32[12,16] weight he_normal(0)
state bn2.weight f32[12] gamma ones
state bn2.bias f32[12] beta zeros
state bn2.running_mean f32[12] mean zeros
state bn2.running_var f32[12] variance ones
state fc3.weight f32[10,12] weight he_normal(0)
state fc3.bias f32[10] bias zeros
func main(x rows u8[28,28,1]) {
  image = image(x, mean=[0.1307], std=[0.3081])
  pool = max_pool(image, kernel=[2,2], stride=[2,2])
  flat = reshape(pool, shape=[196])
  fc1 = dense(flat, @fc1.weight)
  bn1 = batch_norm(fc1, @bn1.weight, @bn1.bias, @bn1.running_mean, @bn1.running_var)
  relu1 = relu(bn1)
  fc2 = dense(relu1, @fc2.weight)
  bn2 = batch_norm(fc2, @bn2.weight, @bn2.bias, @bn2.running_mean, @bn2.running_var)
  relu2 = relu(bn2)
  fc3 = dense(relu2, @fc3.weight, @fc3.bias)
  return logits rows = fc3
}
`,
	"masks": `bnctl graph 1
graph "masks"
state conv1.weight f32[4,3,3,3] weight he_normal(0)
state bn1.weight f32[4] gamma ones
state bn1.bias f32[4] beta zeros
state bn1.running_mean f32[4] mean zeros
state bn1.running_var f32[4] variance ones
state conv2.weight f32[6,4,3,3] weight he_normal(0)
state bn2.weight f32[6] gamma ones
state bn2.bias f32[6] beta zeros
state bn2.running_mean f32[6] mean zeros
state bn2.running_var f32[6] variance ones
func main(x rows u8[16,16,3]) {
  image = image(x, mean=[0.485,0.456,0.406], std=[0.229,0.224,0.225])
  conv1 = conv(image, @conv1.weight, pad=[1,1,1,1], stride=[2,2])
  bn1 = batch_norm(conv1, @bn1.weight, @bn1.bias, @bn1.running_mean, @bn1.running_var)
  relu1 = relu(bn1)
  conv2 = conv(relu1, @conv2.weight, pad=[1,1,1,1])
  bn2 = batch_norm(conv2, @bn2.weight, @bn2.bias, @bn2.running_mean, @bn2.running_var)
  scores = upsample(bn2, size=[16,16], mode="bilinear")
  return logits rows = scores
}
`,
}
