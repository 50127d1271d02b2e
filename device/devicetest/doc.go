// Package devicetest tests devices: it checks that they keep the contract of package
// device, and that their operations compute the same results as package device/ref.
//
// Use Run in the tests of every device that you write.
//
// A case quotes the rule that it checks. Go tests run all cases through Run,
// other programs through Judge. Every rule of the contract needs a case here: add the case
// before the rule.
//
// # Operations
//
// An operation is checked by probes: programs of one node, run with awkward shapes on
// replicas of 2, 0, 3 and 1 rows. The results are compared with the results of ref. If the
// table of operations defines the bits, the bits must be equal; otherwise the difference must
// be within the probe's tolerance (docs/numerics.md, section 5). Then the program is run with
// each replica alone, and with no replica. If the device has the feature deterministic, a
// replica must have the same bits alone as together with other replicas.
//
// # Classes
//
// A device that claims class.FMA (Info.Kernels) has promised bits. Its results are
// compared, bit by bit, with the results of ref when it runs the definitions of the
// class, and additional cases run every algorithm that class.Choose returns. Any
// NaN equals any other; the sign of zero counts. A device that claims class.Ref is
// compared with ref by bits, at every precision. The classes class.Generic and
// class.AMX belong to the device cpu; any other name is a private class of the device.
//
// # Precisions
//
// All cases run at each precision that the device has, and are compared with ref
// at the same precision. At device.BF16 a stored result must consist of bfloat16 numbers. It
// may differ by one rounding more than at F32, but most elements must be rounded to nearest.
// In chains of operations and in training, a device may store intermediate values or not. The
// permitted error is then larger by twice the difference between ref at BF16 and ref at F32.
//
// If a device lacks an operation, the first case of the operation checks that Load refuses
// the program as the contract requires, and Result.Lacks names the operation. The operation's
// other cases are left out, and so are cases of classes that the device does not claim. The
// caller decides which operations a device must have. A device may also refuse some nodes of an
// operation that it has, for example convolutions with groups: Result.Refused. It must not
// refuse nodes that mlp-bn and lenet-bn need.
//
// # Devices that hang, or die
//
// The time limit of a call in a case is a quarter of the time set by WithPatience, 15 s by
// default. The limit of Load is four times as long. A device that exceeds a limit breaks the
// rule that calls are answered, whichever rule the case checks (Result.Rule). A judgement ends
// after three cases that lost the device or got no answer (Report.Stopped). One opened device
// serves many of the cases that check results. All other cases open a new device.
package devicetest
