// Package objects reads annotated boxes: sets of pictures with the objects in them, in the formats of PASCAL
// VOC, COCO, YOLO and CSV tables.
//
// Use Open to read a set from a spec like "voc:FOLDER", Survey to describe it, and Draw to draw its boxes.
// Package objects/average compares a set with detections. Package device/suppress removes overlapping
// detections.
//
// All boxes are half-open and in pixels of the picture: a box that covers only the first pixel is (0, 0)-(1,
// 1). The readers convert the boxes of each format:
//
//   - VOC's corners count from 1 and are inclusive, so 1 is subtracted from xmin and ymin.
//   - COCO stores x, y, width and height in pixels.
//   - YOLO stores the centre, width and height as fractions of the picture.
//
// Broken annotations are errors that name the file and the line. Nothing is guessed: a set with broken
// annotations is not opened.
package objects
