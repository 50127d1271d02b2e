//go:build !purego

#include "textflag.h"

DATA peakFactor<>+0(SB)/4, $0x3f7fbe77 // 0.999
GLOBL peakFactor<>(SB), RODATA, $4

DATA peakAddend<>+0(SB)/4, $0x3a83126f // 0.001
GLOBL peakAddend<>(SB), RODATA, $4

// func peakAVX512(n int): x = x*a + b in Z0 to Z11, n times
TEXT ·peakAVX512(SB), NOSPLIT, $0-8
	MOVQ n+0(FP), CX
	VBROADCASTSS peakFactor<>(SB), Z12 // a
	VBROADCASTSS peakAddend<>(SB), Z13 // b
	VMOVUPS Z13, Z0
	VMOVUPS Z13, Z1
	VMOVUPS Z13, Z2
	VMOVUPS Z13, Z3
	VMOVUPS Z13, Z4
	VMOVUPS Z13, Z5
	VMOVUPS Z13, Z6
	VMOVUPS Z13, Z7
	VMOVUPS Z13, Z8
	VMOVUPS Z13, Z9
	VMOVUPS Z13, Z10
	VMOVUPS Z13, Z11
	TESTQ CX, CX
	JLE done

loop:
	VFMADD213PS Z13, Z12, Z0 // x0 = x0*a + b
	VFMADD213PS Z13, Z12, Z1 // x1 = x1*a + b
	VFMADD213PS Z13, Z12, Z2 // x2 = x2*a + b
	VFMADD213PS Z13, Z12, Z3 // x3 = x3*a + b
	VFMADD213PS Z13, Z12, Z4 // x4 = x4*a + b
	VFMADD213PS Z13, Z12, Z5 // x5 = x5*a + b
	VFMADD213PS Z13, Z12, Z6 // x6 = x6*a + b
	VFMADD213PS Z13, Z12, Z7 // x7 = x7*a + b
	VFMADD213PS Z13, Z12, Z8 // x8 = x8*a + b
	VFMADD213PS Z13, Z12, Z9 // x9 = x9*a + b
	VFMADD213PS Z13, Z12, Z10 // x10 = x10*a + b
	VFMADD213PS Z13, Z12, Z11 // x11 = x11*a + b
	DECQ CX
	JNZ loop

done:
	VZEROUPPER
	RET

// func peakAVX2(n int): x = x*a + b in Y0 to Y11, n times
TEXT ·peakAVX2(SB), NOSPLIT, $0-8
	MOVQ n+0(FP), CX
	VBROADCASTSS peakFactor<>(SB), Y12 // a
	VBROADCASTSS peakAddend<>(SB), Y13 // b
	VMOVUPS Y13, Y0
	VMOVUPS Y13, Y1
	VMOVUPS Y13, Y2
	VMOVUPS Y13, Y3
	VMOVUPS Y13, Y4
	VMOVUPS Y13, Y5
	VMOVUPS Y13, Y6
	VMOVUPS Y13, Y7
	VMOVUPS Y13, Y8
	VMOVUPS Y13, Y9
	VMOVUPS Y13, Y10
	VMOVUPS Y13, Y11
	TESTQ CX, CX
	JLE done

loop:
	VFMADD213PS Y13, Y12, Y0 // x0 = x0*a + b
	VFMADD213PS Y13, Y12, Y1 // x1 = x1*a + b
	VFMADD213PS Y13, Y12, Y2 // x2 = x2*a + b
	VFMADD213PS Y13, Y12, Y3 // x3 = x3*a + b
	VFMADD213PS Y13, Y12, Y4 // x4 = x4*a + b
	VFMADD213PS Y13, Y12, Y5 // x5 = x5*a + b
	VFMADD213PS Y13, Y12, Y6 // x6 = x6*a + b
	VFMADD213PS Y13, Y12, Y7 // x7 = x7*a + b
	VFMADD213PS Y13, Y12, Y8 // x8 = x8*a + b
	VFMADD213PS Y13, Y12, Y9 // x9 = x9*a + b
	VFMADD213PS Y13, Y12, Y10 // x10 = x10*a + b
	VFMADD213PS Y13, Y12, Y11 // x11 = x11*a + b
	DECQ CX
	JNZ loop

done:
	VZEROUPPER
	RET
