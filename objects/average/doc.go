// Package average computes average precision and recall of detections, as COCO and PASCAL VOC define them.
//
// Use COCO for the figures that most papers print, and VOC for the AP50 of PASCAL VOC. Both need a set of
// annotated pictures (package objects) and the detections of a model. ReadResults reads detections from
// COCO's results format.
//
// COCO follows cocodataset/cocoapi (PythonAPI/pycocotools/cocoeval.py) step by step, and VOC follows the
// development kit of the challenge (VOCevaldet.m). Detections with equal scores are ordered by the number of
// the picture, and within a picture by their order in the list.
package average
