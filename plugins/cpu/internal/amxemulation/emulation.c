//go:build amxemulation && linux && amd64 && cgo

// The Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2, defines the
// instructions, their operands and the conditions of #UD and #GP (LDTILECFG, TILELOADD,
// TILESTORED, TILERELEASE, TILEZERO, TDPBF16PS, TDPBUSD).

#define _GNU_SOURCE
#include <errno.h>
#include <immintrin.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>

enum { TILES = 8, ROWS = 16, ROW_BYTES = 64 };

struct tile {
	int rows, colsb;
	uint8_t row[ROWS][ROW_BYTES];
};

// state contains the tiles of a thread.
static __thread struct {
	int configured;
	struct tile tile[TILES];
} state;

static struct sigaction before;

// instruction is a decoded instruction: fields of the VEX prefix, opcode and operands.
struct instruction {
	int pp, opcode, reg, rm, vvvv, memory;
	int length;
	uint64_t base, stride; // address and stride of an operand in memory
};

static uint64_t general(const ucontext_t *c, int number) {
	static const int at[16] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
		REG_R8, REG_R9, REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};
	return (uint64_t)c->uc_mcontext.gregs[at[number]];
}

// decode decodes a VEX.128.0F38.W0 instruction. It returns 0 if the instruction is a different one.
static int decode(const ucontext_t *c, struct instruction *i) {
	const uint8_t *p = (const uint8_t *)c->uc_mcontext.gregs[REG_RIP];
	if (p[0] != 0xC4 || (p[1] & 0x1F) != 2 || (p[2] & 0x84) != 0)
		return 0;
	int r = !(p[1] & 0x80), x = !(p[1] & 0x40), b = !(p[1] & 0x20);
	i->vvvv = (~p[2] >> 3) & 15;
	i->pp = p[2] & 3;
	i->opcode = p[3];
	int mod = p[4] >> 6, rm = p[4] & 7;
	i->reg = ((p[4] >> 3) & 7) + 8 * r;
	i->rm = rm + 8 * b;
	i->memory = mod != 3;
	i->length = 5;
	if (!i->memory)
		return 1;
	int base = rm, index = 4, scale = 0, sib = rm == 4;
	if (sib) {
		scale = p[5] >> 6, index = ((p[5] >> 3) & 7) + 8 * x, base = p[5] & 7;
		i->length++;
	}
	if (mod == 0 && base == 5)
		return 0; // an address without a base, which is not emulated
	i->base = general(c, base + 8 * b);
	i->stride = index == 4 ? 0 : general(c, index) << scale;
	if (mod == 1) {
		i->base += (int64_t)(int8_t)p[i->length];
		i->length++;
	} else if (mod == 2) {
		int32_t d;
		memcpy(&d, p + i->length, 4);
		i->base += (int64_t)d;
		i->length += 4;
	}
	if (i->opcode == 0x4B && !sib)
		return 0; // TILELOADD and TILESTORED require a SIB byte
	return 1;
}

// configure is LDTILECFG. It returns the reason if it faults, otherwise 0.
static const char *configure(const uint8_t *c) {
	if (c[0] > 1)
		return "#GP: LDTILECFG: a palette that is neither 0 nor 1";
	for (int i = 2; i < 16; i++)
		if (c[i])
			return "#GP: LDTILECFG: reserved bytes are not 0";
	for (int i = 16 + 2 * TILES; i < 48; i++)
		if (c[i])
			return "#GP: LDTILECFG: columns of a tile that does not exist";
	for (int i = 48 + TILES; i < 64; i++)
		if (c[i])
			return "#GP: LDTILECFG: rows of a tile that does not exist";
	memset(&state, 0, sizeof state);
	if (c[0] == 0)
		return 0;
	for (int t = 0; t < TILES; t++) {
		int colsb = c[16 + 2 * t] | c[17 + 2 * t] << 8, rows = c[48 + t];
		if (colsb > ROW_BYTES || rows > ROWS)
			return "#GP: LDTILECFG: a tile larger than 16 rows of 64 bytes";
		if (!colsb != !rows)
			return "#GP: LDTILECFG: a tile with rows or columns only";
		state.tile[t].colsb = colsb;
		state.tile[t].rows = rows;
	}
	state.configured = 1;
	return 0;
}

// usable returns the reason why a tile cannot be used, or 0 if it can be used.
static const char *usable(int t) {
	if (!state.configured)
		return "#UD: tiles are not configured";
	if (t >= TILES || state.tile[t].rows == 0)
		return "#UD: a tile that is not configured";
	return 0;
}

// productBF16 is TDPBF16PS. For every element, even values and odd values are multiplied in two
// chains of fused multiply-adds that begin with +0, and the sum of the chains is added to the
// element. All operations round to nearest even. Denormal operands and results count as zero
// (manual, "Operation" of TDPBF16PS).
__attribute__((target("avx512f"))) static void productBF16(struct tile *c, const struct tile *a, const struct tile *b) {
	unsigned mode = _mm_getcsr();
	_mm_setcsr(0x1F80 | 0x8040); // exceptions masked, flush to zero, denormals are zero
	for (int m = 0; m < c->rows; m++) {
		__m512 even = _mm512_setzero_ps(), odd = _mm512_setzero_ps();
		for (int k = 0; k < a->colsb / 4; k++) {
			uint32_t pair;
			memcpy(&pair, &a->row[m][4 * k], 4);
			__m512i pairs = _mm512_loadu_si512(b->row[k]);
			__m512 b0 = _mm512_castsi512_ps(_mm512_slli_epi32(pairs, 16));
			__m512 b1 = _mm512_castsi512_ps(_mm512_and_si512(pairs, _mm512_set1_epi32(0xFFFF0000)));
			__m512 a0 = _mm512_castsi512_ps(_mm512_set1_epi32((int)(pair << 16)));
			__m512 a1 = _mm512_castsi512_ps(_mm512_set1_epi32((int)(pair & 0xFFFF0000)));
			even = _mm512_fmadd_ps(a0, b0, even);
			odd = _mm512_fmadd_ps(a1, b1, odd);
		}
		__m512 sum = _mm512_add_ps(_mm512_loadu_ps(c->row[m]), _mm512_add_ps(even, odd));
		uint8_t row[ROW_BYTES];
		_mm512_storeu_ps((float *)row, sum);
		memset(c->row[m], 0, ROW_BYTES);
		memcpy(c->row[m], row, c->colsb);
	}
	_mm_setcsr(mode);
}

// productBytes is TDPBUSD: it adds products of unsigned and signed bytes, four at a time, to every
// element. Sums wrap (manual, "Operation" of TDPBUSD).
static void productBytes(struct tile *c, const struct tile *a, const struct tile *b) {
	for (int m = 0; m < c->rows; m++) {
		for (int n = 0; n < c->colsb / 4; n++) {
			uint32_t sum;
			memcpy(&sum, &c->row[m][4 * n], 4);
			for (int k = 0; k < a->colsb; k++)
				sum += (uint32_t)((int)a->row[m][k] * (int8_t)b->row[k / 4][4 * n + k % 4]);
			memcpy(&c->row[m][4 * n], &sum, 4);
		}
		memset(&c->row[m][c->colsb], 0, ROW_BYTES - c->colsb);
	}
}

typedef void (*product_of_tiles)(struct tile *c, const struct tile *a, const struct tile *b);

static const char *multiply(product_of_tiles product, int dst, int src1, int src2) {
	const char *why;
	if ((why = usable(dst)) || (why = usable(src1)) || (why = usable(src2)))
		return why;
	struct tile *c = &state.tile[dst], *a = &state.tile[src1], *b = &state.tile[src2];
	if (dst == src1 || dst == src2 || src1 == src2)
		return "#UD: a product of tiles: one tile as two operands";
	if (c->colsb % 4 || a->colsb % 4 || b->colsb % 4)
		return "#UD: a product of tiles: columns that are not whole dwords";
	if (a->rows != c->rows || b->colsb != c->colsb || a->colsb / 4 != b->rows)
		return "#UD: a product of tiles: shapes that do not fit together";
	product(c, a, b);
	return 0;
}

static const char *load(int t, uint64_t base, uint64_t stride) {
	const char *why = usable(t);
	if (why)
		return why;
	struct tile *d = &state.tile[t];
	memset(d->row, 0, sizeof d->row);
	for (int r = 0; r < d->rows; r++)
		memcpy(d->row[r], (const void *)(base + r * stride), d->colsb);
	return 0;
}

static const char *store(int t, uint64_t base, uint64_t stride) {
	const char *why = usable(t);
	if (why)
		return why;
	for (int r = 0; r < state.tile[t].rows; r++)
		memcpy((void *)(base + r * stride), state.tile[t].row[r], state.tile[t].colsb);
	return 0;
}

static const char *zero(int t) {
	const char *why = usable(t);
	if (!why)
		memset(state.tile[t].row, 0, sizeof state.tile[t].row);
	return why;
}

// none is returned for an instruction that is not emulated.
static const char none[] = "";

static const char *execute(const struct instruction *i) {
	enum { NP = 0, P66 = 1, F3 = 2, F2 = 3 };
	if (i->opcode != 0x5C && i->opcode != 0x5E && i->vvvv != 0)
		return none; // VEX.vvvv must be 1111
	switch (i->opcode << 4 | i->pp << 1 | i->memory) {
	case 0x49 << 4 | NP << 1 | 1:
		return i->reg == 0 ? configure((const uint8_t *)i->base) : none;
	case 0x49 << 4 | NP << 1 | 0:
		if (i->reg != 0 || i->rm != 0)
			return none;
		memset(&state, 0, sizeof state);
		return 0;
	case 0x49 << 4 | F2 << 1 | 0:
		return i->rm == 0 ? zero(i->reg) : none;
	case 0x4B << 4 | F2 << 1 | 1:
		return load(i->reg, i->base, i->stride);
	case 0x4B << 4 | F3 << 1 | 1:
		return store(i->reg, i->base, i->stride);
	case 0x5C << 4 | F3 << 1 | 0:
		return multiply(productBF16, i->reg, i->rm, i->vvvv);
	case 0x5E << 4 | P66 << 1 | 0:
		return multiply(productBytes, i->reg, i->rm, i->vvvv);
	}
	return none;
}

static void handle(int number, siginfo_t *info, void *context) {
	ucontext_t *c = context;
	struct instruction i;
	const char *why = none;
	if (decode(c, &i))
		why = execute(&i);
	if (!why) {
		c->uc_mcontext.gregs[REG_RIP] += i.length;
		return;
	}
	if (why != none) {
		static const char prefix[] = "amxemulation: ";
		ssize_t n = write(2, prefix, sizeof prefix - 1) + write(2, why, strlen(why)) + write(2, "\n", 1);
		(void)n;
	}
	if (before.sa_flags & SA_SIGINFO)
		before.sa_sigaction(number, info, context);
	else
		signal(number, SIG_DFL);
}

int amx_emulation_install(void) {
	struct sigaction a, now;
	if (sigaction(SIGILL, 0, &now))
		return errno;
	if (now.sa_sigaction == handle)
		return 0;
	before = now;
	memset(&a, 0, sizeof a);
	a.sa_sigaction = handle;
	a.sa_flags = SA_SIGINFO | SA_ONSTACK;
	sigfillset(&a.sa_mask);
	return sigaction(SIGILL, &a, 0) ? errno : 0;
}
