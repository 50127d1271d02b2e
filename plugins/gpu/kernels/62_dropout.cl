// Dropout by Philox4x32-10 (Salmon, Moraes, Dror, Shaw 2011).

// drawn returns random word e of a sample in an epoch, as a float32 in [0, 1).
FUNCTION float drawn(uint key0, uint key1, uint epoch, uint low, uint high, uint e) {
	uint a = e / 4, b = epoch, c = low, d = high;
	for (int i = 0; i < 10; i++) {
		ulong p = (ulong)0xD2511F53u * a, q = (ulong)0xCD9E8D57u * c;
		a = (uint)(q >> 32) ^ b ^ key0;
		b = (uint)q;
		c = (uint)(p >> 32) ^ d ^ key1;
		d = (uint)p;
		key0 += 0x9E3779B9u;
		key1 += 0xBB67AE85u;
	}
	uint w = e % 4 == 0 ? a : e % 4 == 1 ? b : e % 4 == 2 ? c : d;
	return (float)(w >> 8) * 0x1p-24f;
}

// dropout: ident contains the epoch and the sample of each row, in words of 4 bytes.
KERNEL dropout(int first, IN float *x, IN uint *ident, OUT float *y, int n, int key0, int key1, double p) {
	EACH(e, unit, n);
	IN uint *id = ident + unit * 4;
	float keep = (float)(1.0 - p), u = drawn((uint)key0, (uint)key1, id[0], id[2], id[3], (uint)e);
	y[unit * n + e] = (double)u >= p ? DIV(x[unit * n + e], keep) : 0.0f;
}
