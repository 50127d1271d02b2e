// Package devicetest tests devices: whether they keep the contract of package
// device, and whether their operations compute what those of package device/ref
// compute.
//
// Use Run in the tests of every device that you write.
//
// A case quotes the rule that it checks. Go tests run all cases through Run,
// other programs through Judge. A rule of the contract that has no case here does not
// exist for devices: add the case first.
//
// # Operations
//
// An operation is checked by probes: programs of one node, run with awkward shapes on
// replicas of 2, 0, 3 and 1 rows. The results are compared with those of ref: by their
// bits where the table of operations defines them, else within the probe's tolerance
// (docs/numerics.md, section 5). Then the program is run with each replica alone, and
// with no replica. If the device has the feature deterministic, a replica must have the
// same bits alone as among others.
//
// # Classes
//
// A device that claims class.FMA (Info.Kernels) has promised bits. Its results are
// compared, bit by bit, with those of ref when it runs the definitions of the
// class, and additional cases run every algorithm that class.Choose returns. Any
// NaN equals any other; the sign of zero counts. A device that claims class.Ref is
// compared with ref by bits, at every precision. The classes class.Generic and
// class.AMX are those of the device cpu; any other name is a class of the device's own.
//
// # Precisions
//
// All cases run at each precision that the device has, and are compared with ref
// at the same one. At device.BF16 a stored result must consist of bfloat16s. It may differ by
// one rounding more than at F32; most elements must be rounded to the nearest.
// Where a device may or may not store intermediate values, in chains of
// operations and in training, it may be twice as far from ref as ref at F32 is.
//
// If a device lacks an operation, the first case of it checks that Load refuses the
// program as the contract says, and Result.Lacks names the operation; the others of it
// are left out, and so are cases of classes that it does not claim. The caller decides
// which operations a device must have. A device may also refuse some nodes of an
// operation that it has, such as convolutions with groups, except for those that mlp-bn
// and lenet-bn need: Result.Refused.
//
// # Devices that hang, or die
//
// A call of a case may take a quarter of WithPatience, 15 s unless that says more, and
// Load four times as long. The rule that such a device breaks is that calls are
// answered, whatever its case is about (Result.Rule). After three cases in which it was
// lost, or did not answer, a judgement ends (Report.Stopped). One opened device serves
// many of the cases about what a device computes; the others have one of their own.
package devicetest
