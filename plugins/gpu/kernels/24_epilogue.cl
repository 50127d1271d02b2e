// Epilogues: a kernel applies a list of element-wise steps to a result before it stores it. A
// step has the operations of the kernel that computes its node alone, in the same order, so
// the bits are the same.
//
// The table of an epilogue is the number of steps, the number of elements of a unit, and the
// number of images of a unit as the kernel counts units. Then it has STEP numbers per step:
#define S_OP t[0]      // operation, as package gpu numbers it
#define S_A FLOAT(t[1]) // two parameters of a function
#define S_B FLOAT(t[2])
#define S_SOURCE t[3]  // buffer of the second operand: 1, 2 or 3, or 0 if there is none
#define S_OF t[4]      // unit of the second operand (UNIT)
#define S_COUNT t[5]   // its elements per unit
#define S_DIVISOR t[6] // its element is e / divisor % modulus, or e if the modulus is 0
#define S_MODULUS t[7]
#define S_SWAPPED t[8] // whether the value is the second operand
#define S_KEPT t[9]    // whether the value is stored before the step, because other nodes read it
#define STEP 10

// EPILOGUE declares the arguments that a kernel with an epilogue ends with. GIVEN are their values.
#define EPILOGUE IN int *steps, IN float *p, IN float *q, IN float *r, OUT float *kept, IN int *owner
#define GIVEN {steps[0], steps, p, q, r, kept, owner}
typedef struct epilogue {
	int count;
	IN int *steps;
	IN float *p, *q, *r;
	OUT float *kept;
	IN int *owner;
} epilogue;

// short_function is function32 without the functions that need much code. Package gpu lists
// the functions that it has.
FUNCTION float short_function(int op, float x, float a, float b) {
	switch (op) {
	case 52: return x >= 0.0f ? x : a * x;
	case 54: return sigmoid32(x);
	case 55: return hard_sigmoid32(x, a, b);
	case 56: return x * sigmoid32(x);
	case 57: return x * hard_sigmoid32(x, a, b);
	case 87: return a * x + b;
	case 181: return a * x * (1.0f + erf32(DIV(x, SQRT2))) * b;
	}
	return least(most(x, a), b); // 50, 51 and 88
}

// short_derivative is derivative32 without the functions that need much code.
FUNCTION float short_derivative(int op, float x, float a, float b) {
	float s;
	switch (op) {
	case 55: s = a * x + b; return s >= 0.0f && s < 1.0f ? a : 0.0f;
	case 56: s = sigmoid32(x); return s * FMA(x, 1.0f - s, 1.0f);
	case 57: s = a * x + b; return s < 0.0f ? 0.0f : s >= 1.0f ? 1.0f : s + a * x;
	}
	return x >= a && x < b ? 1.0f : 0.0f; // 88
}

// Gradients of activations are numbered from DERIVATIVES on.
#define DERIVATIVES 512
FUNCTION float derivative_step(int all, int op, float x, float dy, float a, float b) {
	switch (op) {
	case 50: return x > 0.0f ? dy : 0.0f;
	case 51: return x > 0.0f && x < 6.0f ? dy : 0.0f;
	}
	return (all ? derivative32(op, x, a, b) : short_derivative(op, x, a, b)) * dy;
}

// finished returns v, the result with index e of a unit, after the steps of an epilogue. With
// all, it has all functions.
FUNCTION float finished(epilogue s, int all, float v, int unit, int e) {
	if (s.count == 0)
		return v;
	IN int *t = s.steps;
	int n = t[1], images = t[2];
	if (images > 1) {
		e += unit % images * (n / images);
		unit /= images;
	}
	t += 3;
	LOOP (int i = 0; i < s.count; i++, t += STEP) {
		int op = S_OP, source = S_SOURCE, m = S_MODULUS;
		IN float *from = source == 1 ? s.p : source == 2 ? s.q : s.r;
		float u = 0.0f;
		if (S_KEPT)
			s.kept[(long)unit * n + e] = v;
		if (source) {
			from += UNIT(S_OF, (long)unit, s.owner) * S_COUNT + (m ? e / S_DIVISOR % m : e);
			u = *from;
		}
		float a = S_SWAPPED ? u : v, b = S_SWAPPED ? v : u;
		switch (op) {
		case 60: v = v >= 0.0f ? v : v * u; break;
		case 80: v = a + b; break;
		case 81: v = a - b; break;
		case 82: v = a * b; break;
		case 83: v = (float)((double)a / (double)b); break;
		case 160: v = (float)greater(a, b); break;
		case 161: v = (float)lesser(a, b); break;
		default:
			if (op >= DERIVATIVES)
				v = derivative_step(all, op - DERIVATIVES, u, v, S_A, S_B);
			else
				v = all ? function32(op, v, S_A, S_B) : short_function(op, v, S_A, S_B);
		}
	}
	return v;
}

// chain computes a chain of element-wise nodes.
KERNEL chain(int first, IN float *x, OUT float *y, int n, EPILOGUE) {
	EACH(e, unit, n);
	epilogue s = GIVEN;
	y[unit * n + e] = finished(s, 1, x[unit * n + e], (int)unit, e);
}
