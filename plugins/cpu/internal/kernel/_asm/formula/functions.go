package formula

// All returns the formulas, for a processor with or without an instruction for Scale.
func All(scales bool) []*Formula {
	var all []*Formula
	for _, e := range elements {
		f := &Formula{Name: e.name, Operands: []string{"x"}, Result: "y", scales: scales}
		e.of(f, f.operand(0))
		all = append(all, f)
	}
	for _, e := range gradients {
		f := &Formula{Name: e.name + "Gradient", Operands: []string{"x", "dy"}, Result: "dx", scales: scales}
		d := e.of(f, f.operand(0))
		f.do(Multiply, d, f.operand(1))
		all = append(all, f)
	}
	f := &Formula{Name: "prelu", Operands: []string{"x", "slope"}, Result: "y", scales: scales}
	f.prelu(f.operand(0), f.do(Multiply, f.operand(0), f.operand(1)))
	all = append(all, f)
	f = &Formula{Name: "preluGradient", Operands: []string{"x", "slope", "dy"}, Result: "dx", scales: scales}
	f.prelu(f.operand(2), f.do(Multiply, f.operand(1), f.operand(2)))
	all = append(all, f)
	for _, e := range binaries {
		f := &Formula{Name: e.name, Operands: []string{"a", "b"}, Result: "y", scales: scales}
		e.of(f, f.operand(0), f.operand(1))
		all = append(all, f)
	}
	f = &Formula{Name: "pick", Operands: []string{"test", "a", "b"}, Result: "y", scales: scales}
	f.do(Select, f.do(Equal, f.operand(0), f.constant("zero")), f.operand(2), f.operand(1))
	return append(all, f)
}

// binaries are the functions of two elements, a and b.
var binaries = []struct {
	name string
	of   func(f *Formula, a, b Value)
}{
	{"sub", func(f *Formula, a, b Value) { f.do(Subtract, a, b) }},
	{"mul", func(f *Formula, a, b Value) { f.do(Multiply, a, b) }},
	{"div", func(f *Formula, a, b Value) { f.do(Divide, a, b) }},
	{"less", func(f *Formula, a, b Value) { f.holds(f.do(Less, a, b), "one", "zero") }},
	{"atMost", func(f *Formula, a, b Value) { f.holds(f.do(AtLeast, b, a), "one", "zero") }},
	{"equal", func(f *Formula, a, b Value) { f.holds(f.do(Equal, a, b), "one", "zero") }},
	{"notEqual", func(f *Formula, a, b Value) { f.holds(f.do(Equal, a, b), "zero", "one") }},
	{"max", func(f *Formula, a, b Value) { f.extreme(a, b, f.do(AtLeast, a, b), And) }},
	{"min", func(f *Formula, a, b Value) { f.extreme(a, b, f.do(AtLeast, b, a), Or) }},
}

// holds returns the constant yes where the mask holds, else the constant no.
func (f *Formula) holds(mask Value, yes, no string) Value {
	return f.do(Select, mask, f.constant(yes), f.constant(no))
}

// extreme returns the elements of a where the mask is true, and those of b elsewhere. The result is NaN if
// either element is NaN. If both are zeros, op determines the sign.
func (f *Formula) extreme(a, b, mask Value, op Op) {
	y := f.do(Select, f.do(Equal, a, b), f.do(op, a, b), f.do(Select, mask, a, b))
	f.do(Select, f.do(Equal, a, a), y, a)
}

// elements are the functions of one element, x.
var elements = []struct {
	name string
	of   func(f *Formula, x Value) Value
}{
	{"exp", (*Formula).exp},
	{"log", (*Formula).log},
	{"sigmoid", (*Formula).sigmoid},
	{"tanh", (*Formula).tanh},
	{"silu", func(f *Formula, x Value) Value { return f.do(Multiply, x, f.sigmoidTimes(x)) }},
	{"softplus", (*Formula).softplus},
	{"elu", func(f *Formula, x Value) Value {
		below := f.do(Multiply, f.number(0), f.expm1(x))
		return f.do(Select, f.do(Less, f.constant("zero"), x), x, below)
	}},
	{"leakyRelu", func(f *Formula, x Value) Value {
		return f.do(Select, f.do(AtLeast, x, f.constant("zero")), x, f.do(Multiply, f.number(0), x))
	}},
	{"hardSigmoid", (*Formula).hardSigmoid},
	{"hardSwish", func(f *Formula, x Value) Value { return f.do(Multiply, x, f.hardSigmoid(x)) }},
	{"clip", func(f *Formula, x Value) Value { return f.bounded(x, f.number(0), f.number(1)) }},
	{"affine", func(f *Formula, x Value) Value {
		return f.do(Add, f.do(Multiply, f.number(0), x), f.number(1))
	}},
	{"erf", (*Formula).erf},
	{"gelu", func(f *Formula, x Value) Value {
		return f.halved(x, f.erf(f.do(Divide, x, f.constant("sqrt2"))))
	}},
	{"geluTanh", func(f *Formula, x Value) Value { return f.halved(x, f.tanh(f.geluInner(x))) }},
	{"mish", func(f *Formula, x Value) Value { return f.do(Multiply, x, f.tanh(f.softplus(x))) }},
	{"over", func(f *Formula, x Value) Value { return f.do(Divide, x, f.number(0)) }},
	{"expNormal", func(f *Formula, x Value) Value {
		least := f.constant("expNormalLeast")
		e := f.exponential(f.bounded(x, least, f.constant("expMost")))
		return f.do(Select, f.do(Less, x, least), f.constant("zero"), e)
	}},
	{"root", func(f *Formula, x Value) Value { return f.do(Root, x) }},
	{"even", func(f *Formula, x Value) Value { return f.step(Whole, ToEven, x) }},
	{"floor", func(f *Formula, x Value) Value { return f.step(Whole, Down, x) }},
	{"ceil", func(f *Formula, x Value) Value { return f.step(Whole, Up, x) }},
}

// gradients are the derivatives of activations, as functions of the value that the activation saves.
var gradients = []struct {
	name string
	of   func(f *Formula, x Value) Value
}{
	{"sigmoid", func(f *Formula, y Value) Value {
		return f.do(Multiply, y, f.do(Subtract, f.constant("one"), y))
	}},
	{"tanh", func(f *Formula, y Value) Value { return f.do(MultiplySubtract, y, y, f.constant("one")) }},
	{"silu", func(f *Formula, x Value) Value {
		s, one := f.sigmoidTimes(x), f.constant("one")
		return f.do(Multiply, s, f.fma(x, f.do(Subtract, one, s), one))
	}},
	{"softplus", (*Formula).sigmoid},
	{"erf", func(f *Formula, x Value) Value {
		return f.do(Multiply, f.constant("erfSlope"), f.exp(f.do(Or, f.do(Multiply, x, x), f.constant("sign"))))
	}},
	{"gelu", (*Formula).geluDerivative},
	{"geluTanh", (*Formula).geluTanhDerivative},
	{"mish", (*Formula).mishDerivative},
	{"elu", func(f *Formula, x Value) Value {
		below := f.do(Multiply, f.number(0), f.exp(x))
		return f.do(Select, f.do(AtLeast, x, f.constant("zero")), f.constant("one"), below)
	}},
	{"leakyRelu", func(f *Formula, x Value) Value {
		return f.do(Select, f.do(AtLeast, x, f.constant("zero")), f.constant("one"), f.number(0))
	}},
	{"hardSigmoid", func(f *Formula, x Value) Value {
		t := f.do(Add, f.do(Multiply, f.number(0), x), f.number(1))
		return f.within(t, f.constant("zero"), f.constant("one"), f.number(0))
	}},
	{"hardSwish", func(f *Formula, x Value) Value {
		p, zero, one := f.do(Multiply, f.number(0), x), f.constant("zero"), f.constant("one")
		t := f.do(Add, p, f.number(1))
		d := f.do(Select, f.do(AtLeast, t, one), one, f.do(Add, t, p))
		return f.do(Select, f.do(Less, t, zero), zero, d)
	}},
	{"clip", func(f *Formula, x Value) Value {
		return f.within(x, f.number(0), f.number(1), f.constant("one"))
	}},
}

// within returns d where low <= x < high, else 0.
func (f *Formula) within(x, low, high, d Value) Value {
	mask := f.do(Both, f.do(AtLeast, x, low), f.do(Less, x, high))
	return f.do(Select, mask, d, f.constant("zero"))
}

func (f *Formula) bounded(x, low, high Value) Value { return f.do(Least, f.do(Most, x, low), high) }

func (f *Formula) hardSigmoid(x Value) Value {
	t := f.do(Add, f.do(Multiply, f.number(0), x), f.number(1))
	return f.bounded(t, f.constant("zero"), f.constant("one"))
}

// parts returns the results of class.expParts: n as float32, n as the last bits of a float32, and r.
// rounding names the whole number that is added for rounding. bits includes this number.
func (f *Formula) parts(x Value, rounding string) (n, bits, r Value) {
	round := f.constant(rounding)
	bits = f.fma(x, f.constant("log2e"), round)
	n = f.do(Subtract, bits, round)
	r = f.fma(n, f.constant("-ln2lo"), f.fma(n, f.constant("-ln2hi"), x))
	return n, bits, r
}

// power returns 2^n times a power of two, which times has as the bits of a float32. bits is n plus a
// multiple of 2^9.
func (f *Formula) power(bits, times Value) Value {
	return f.do(AddBits, f.step(Left, 23, bits), times)
}

// exponential is e^x of a bounded x.
func (f *Formula) exponential(x Value) Value {
	one := f.constant("one")
	n, bits, r := f.parts(x, "round")
	p := f.fma(r, f.fma(r, f.polynomial(r, "exp", 5), one), one)
	if f.scales {
		return f.do(Scale, p, n)
	}
	most := f.step(Right, 1, bits)
	p = f.do(Multiply, p, f.power(most, one))
	return f.do(Multiply, p, f.power(f.do(SubtractBits, bits, most), one))
}

func (f *Formula) exp(x Value) Value {
	return f.exponential(f.bounded(x, f.constant("expLeast"), f.constant("expMost")))
}

// nearExp is class.nearExp.
func (f *Formula) nearExp(r Value) Value {
	return f.fma(f.do(Multiply, r, r), f.polynomial(r, "exp", 5), r)
}

func (f *Formula) expm1(x Value) Value {
	_, bits, r := f.parts(f.do(Most, x, f.constant("expm1Least")), "round")
	power := f.power(bits, f.constant("one"))
	m := f.fma(f.nearExp(r), power, f.do(Subtract, power, f.constant("one")))
	return f.signed(m, x, false)
}

// tail returns class.tail of x, which must be bounded. The number added for rounding includes 63, the
// biased exponent of 2^-64 as a float32. So the last bits of the sum are the exponent of the power. An odd
// number would round ties differently, but no product x * log2(e) is halfway between two whole numbers.
func (f *Formula) tail(x Value) Value {
	scale := f.constant("two64")
	_, bits, r := f.parts(x, "round63")
	power, near := f.step(Left, 23, bits), f.nearExp(r)
	sum := f.do(Add, power, scale)
	lost := f.do(Subtract, scale, f.do(Subtract, sum, power))
	return f.do(Divide, scale, f.do(Add, sum, f.fma(near, power, lost)))
}

// far limits a number that is not negative, so that tail can be computed of it.
func (f *Formula) far(x Value) Value { return f.do(Least, x, f.constant("-expLeast")) }

func (f *Formula) sigmoid(x Value) Value { return f.eitherTail(x, f.far(f.absolute(x))) }

// eitherTail returns sigmoid of x. bounded is |x|, limited so that tail can be computed of it.
func (f *Formula) eitherTail(x, bounded Value) Value {
	s := f.tail(bounded)
	positive := f.do(AtLeast, x, f.constant("zero"))
	return f.do(Select, positive, f.do(Subtract, f.constant("one"), s), s)
}

// sigmoidTimes returns sigmoid of x for a product with x. If x is NaN, it may return any number, because
// the product is NaN.
func (f *Formula) sigmoidTimes(x Value) Value {
	if f.scales {
		return f.eitherTail(x, f.do(LeastSize, x, f.constant("-expLeast")))
	}
	return f.sigmoid(x)
}

func (f *Formula) tanh(x Value) Value {
	a := f.absolute(x)
	s := f.do(Multiply, a, a)
	near := f.fma(a, f.do(Multiply, s, f.polynomial(s, "tanh", 5)), a)
	far := f.fma(f.tail(f.far(f.do(Add, a, a))), f.constant("-two"), f.constant("one"))
	return f.signed(f.do(Select, f.do(Less, a, f.constant("tanhNear")), near, far), x, true)
}

// nearLog is class.nearLog.
func (f *Formula) nearLog(x Value) Value {
	return f.fma(f.do(Multiply, x, x), f.polynomial(x, "log", 9), x)
}

func (f *Formula) log(x Value) Value {
	zero := f.constant("zero")
	small := f.do(Less, x, f.constant("normal"))
	v := f.do(Select, small, f.do(Multiply, x, f.constant("two23")), x)
	n := f.do(Select, small, f.constant("-23"), zero)
	above := f.do(SubtractBits, v, f.constant("thirdBits"))
	n = f.do(Add, n, f.do(Float, f.step(Right, 23, above)))
	v = f.do(SubtractBits, v, f.do(And, above, f.constant("exponent")))
	y := f.fma(n, f.constant("ln2"), f.nearLog(f.do(Subtract, v, f.constant("one"))))
	y = f.do(Select, f.do(Less, f.constant("largest"), x), x, y)
	y = f.do(Select, f.do(Equal, x, zero), f.constant("-inf"), y)
	return f.do(Select, f.do(AtLeast, x, zero), y, f.constant("nan"))
}

func (f *Formula) softplus(x Value) Value {
	zero, half := f.constant("zero"), f.constant("half")
	z := f.exponential(f.do(Most, f.do(Or, x, f.constant("sign")), f.constant("expLeast")))
	far := f.do(Less, f.constant("third"), z)
	y := f.nearLog(f.do(Select, far, f.fma(z, half, f.constant("-half")), z))
	y = f.do(Select, far, f.do(Add, f.constant("ln2"), y), y)
	return f.do(Add, f.do(Select, f.do(Less, x, zero), zero, x), y)
}
