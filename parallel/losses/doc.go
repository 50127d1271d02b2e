// Package losses adds losses to the graphs of training functions. A loss consists of operations that
// every device supports, and every device computes the same result. Use it to name a loss and its
// inputs, and package spmd to make a training function.
//
//	CrossEntropy                  exclusive classes               crossentropy.go
//	BinaryCrossEntropy            classes that may apply at once  elements.go
//	SquaredError, ..., HuberError numbers                         elements.go
//	Boxes                         detectors: the labels assign    boxes.go detection.go ssd.go
//	                              objects to cells
//	YOLOX                         detectors: the prediction       yolox.go simota.go
//	                              assigns them
//
// Loss.Add declares the inputs of the loss, adds its nodes, and returns its sum and the gradient of the
// outputs. A caller provides the inputs with each batch: InputLabels, InputPositive and so on.
package losses
