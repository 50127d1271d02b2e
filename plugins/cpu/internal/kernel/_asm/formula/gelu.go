package formula

// prelu returns positive where x, operand 0, is at least 0, else negative.
func (f *Formula) prelu(positive, negative Value) Value {
	return f.do(Select, f.do(AtLeast, f.operand(0), f.constant("zero")), positive, negative)
}

func (f *Formula) erf(x Value) Value {
	a := f.absolute(x)
	q := f.polynomial(f.do(Least, a, f.constant("erfMost")), "erfc", 7)
	far := f.do(Subtract, f.constant("one"), f.exponential(f.do(Or, q, f.constant("sign"))))
	far = f.signed(far, x, true)
	near := f.fma(x, f.polynomial(f.do(Multiply, x, x), "erf", 7), x)
	return f.do(Select, f.do(Less, a, f.constant("erfNear")), near, far)
}

// halved returns gelu of x. gate is the value of erf or tanh that is added to 1.
func (f *Formula) halved(x, gate Value) Value {
	sum := f.do(Add, gate, f.constant("one"))
	return f.do(Multiply, f.do(Multiply, f.do(Multiply, x, f.number(0)), sum), f.number(1))
}

// geluInner is class.geluInner.
func (f *Formula) geluInner(x Value) Value {
	cube := f.do(Multiply, f.do(Multiply, x, x), x)
	sum := f.do(Add, x, f.do(Multiply, cube, f.constant("geluCube")))
	return f.do(Multiply, sum, f.constant("geluScale"))
}

func (f *Formula) geluDerivative(x Value) Value {
	half := f.constant("half")
	b := f.bounded(x, f.constant("-geluMost"), f.constant("geluMost"))
	most := f.fma(f.erf(f.do(Divide, b, f.constant("sqrt2"))), half, half)
	density := f.exp(f.do(Multiply, f.do(Multiply, b, b), f.constant("-half")))
	return f.fma(f.do(Multiply, b, f.constant("geluDensity")), density, most)
}

func (f *Formula) geluTanhDerivative(x Value) Value {
	half := f.constant("half")
	b := f.bounded(x, f.constant("-geluMost"), f.constant("geluMost"))
	t := f.tanh(f.geluInner(b))
	inner := f.fma(f.do(Multiply, b, b), f.constant("geluSlope"), f.constant("geluScale"))
	slope := f.do(Multiply, f.do(Multiply, b, half), f.do(MultiplySubtract, t, t, f.constant("one")))
	return f.fma(slope, inner, f.fma(t, half, half))
}

func (f *Formula) mishDerivative(x Value) Value {
	one, two := f.constant("one"), f.constant("two")
	b := f.bounded(x, f.constant("expLeast"), f.constant("mishMost"))
	n := f.exponential(b)
	m := f.do(Multiply, n, f.do(Add, n, two))
	under := f.do(Add, m, two)
	slope := f.do(Multiply, f.do(Multiply, f.do(Multiply, b, f.constant("four")), n), f.do(Add, n, one))
	return f.do(Divide, f.fma(slope, f.do(Divide, one, under), m), under)
}
