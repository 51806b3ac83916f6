#include "textflag.h"

// The base64 digits: those of whose lower and upper halves the entries have a bit in common.
DATA digitLow<>+0(SB)/8, $0x0e0e0e0e0e0e0e0a
DATA digitLow<>+8(SB)/8, $0x05040404050c0e0e
GLOBL digitLow<>(SB), RODATA|NOPTR, $16
DATA digitHigh<>+0(SB)/8, $0x0804080402010000
DATA digitHigh<>+8(SB)/8, $0
GLOBL digitHigh<>(SB), RODATA|NOPTR, $16

DATA lowerHalf<>+0(SB)/8, $0x0f0f0f0f0f0f0f0f
GLOBL lowerHalf<>(SB), RODATA|NOPTR, $8

// func passDigits(p *byte, blocks int) (at int)
TEXT ·passDigits(SB), NOSPLIT, $0-24
	MOVQ p+0(FP), SI
	MOVQ blocks+8(FP), CX
	XORQ AX, AX
	VBROADCASTI128 digitLow<>(SB), Y8
	VBROADCASTI128 digitHigh<>(SB), Y9
	VPBROADCASTQ lowerHalf<>(SB), Y10
	VPXOR Y11, Y11, Y11

block:
	TESTQ CX, CX
	JZ out
	VMOVDQU (SI)(AX*1), Y0
	VMOVDQU 32(SI)(AX*1), Y1
	VPSRLW $4, Y0, Y2
	VPSRLW $4, Y1, Y3
	VPAND Y0, Y10, Y0
	VPAND Y1, Y10, Y1
	VPAND Y2, Y10, Y2
	VPAND Y3, Y10, Y3
	VPSHUFB Y0, Y8, Y0
	VPSHUFB Y1, Y8, Y1
	VPSHUFB Y2, Y9, Y2
	VPSHUFB Y3, Y9, Y3
	VPAND Y0, Y2, Y0
	VPAND Y1, Y3, Y1
	VPMINUB Y0, Y1, Y0
	VPCMPEQB Y11, Y0, Y0 // what is no digit
	VPTEST Y0, Y0
	JNZ out
	ADDQ $64, AX
	DECQ CX
	JMP block

out:
	VZEROUPPER
	MOVQ AX, at+16(FP)
	RET
