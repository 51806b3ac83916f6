#include "textflag.h"

// The bytes that make an escape of two bytes, "\/bfnrt: those of whose lower and upper halves the entries have a bit in common.
DATA simpleLow<>+0(SB)/8, $0x00040008000d0000
DATA simpleLow<>+8(SB)/8, $0x0104000200000000
GLOBL simpleLow<>(SB), RODATA|NOPTR, $16
DATA simpleHigh<>+0(SB)/8, $0x0804020000010000
DATA simpleHigh<>+8(SB)/8, $0
GLOBL simpleHigh<>(SB), RODATA|NOPTR, $16

DATA quotes<>+0(SB)/8, $0x2222222222222222
GLOBL quotes<>(SB), RODATA|NOPTR, $8
DATA backslashes<>+0(SB)/8, $0x5c5c5c5c5c5c5c5c
GLOBL backslashes<>(SB), RODATA|NOPTR, $8
DATA controls<>+0(SB)/8, $0x1f1f1f1f1f1f1f1f // the last of them
GLOBL controls<>(SB), RODATA|NOPTR, $8
DATA lowerHalf<>+0(SB)/8, $0x0f0f0f0f0f0f0f0f
GLOBL lowerHalf<>(SB), RODATA|NOPTR, $8

// func passText(p *byte, blocks int) (at int, high bool)
//
// DX is 1 where the block before ends with a backslash that escapes the first byte of this one.
TEXT ·passText(SB), NOSPLIT, $0-25
	MOVQ p+0(FP), SI
	MOVQ blocks+8(FP), CX
	XORQ AX, AX
	XORQ DX, DX
	XORQ BX, BX // set where the first escape is met, with what is needed for it
	VPBROADCASTQ quotes<>(SB), Y8
	VPBROADCASTQ backslashes<>(SB), Y9
	VPBROADCASTQ controls<>(SB), Y10
	VPXOR Y15, Y15, Y15 // all bytes or-ed

block:
	TESTQ CX, CX
	JZ ended
	VMOVDQU (SI)(AX*1), Y0
	VMOVDQU 32(SI)(AX*1), Y1
	VPOR Y0, Y15, Y15
	VPOR Y1, Y15, Y15
	VPCMPEQB Y0, Y8, Y2
	VPCMPEQB Y1, Y8, Y3
	VPMINUB Y0, Y10, Y4
	VPMINUB Y1, Y10, Y5
	VPCMPEQB Y0, Y4, Y4
	VPCMPEQB Y1, Y5, Y5
	VPOR Y4, Y2, Y2 // quotes and control characters
	VPOR Y5, Y3, Y3
	VPCMPEQB Y0, Y9, Y4 // backslashes
	VPCMPEQB Y1, Y9, Y5
	VPOR Y2, Y4, Y6
	VPOR Y3, Y5, Y7
	VPOR Y6, Y7, Y6
	VPTEST Y6, Y6
	JNZ look
	TESTQ DX, DX
	JNZ look

next:
	ADDQ $64, AX
	DECQ CX
	JMP block

look:
	VPMOVMSKB Y2, R8
	VPMOVMSKB Y3, R9
	SHLQ $32, R9
	ORQ R9, R8
	VPMOVMSKB Y4, R10
	VPMOVMSKB Y5, R11
	SHLQ $32, R11
	ORQ R11, R10
	MOVQ R10, R11
	ORQ DX, R11
	JZ found // no escape: something ends here
	TESTQ BX, BX
	JNZ escapes
	MOVQ $0xaaaaaaaaaaaaaaaa, BX
	VBROADCASTI128 simpleLow<>(SB), Y11
	VBROADCASTI128 simpleHigh<>(SB), Y12
	VPBROADCASTQ lowerHalf<>(SB), Y13
	VPXOR Y14, Y14, Y14

escapes:
	// Of backslashes in a row every other one escapes what follows. Taken from bits that alternate, a row borrows up to its end,
	// and leaves there what tells an odd one from an even one.
	MOVQ DX, R12
	NOTQ R12
	ANDQ R10, R12
	LEAQ (R12)(R12*1), R13
	ORQ BX, R13
	SUBQ R12, R13
	XORQ BX, R13
	MOVQ R13, DX
	ANDQ R10, DX // those that escape
	SHRQ $63, DX
	XORQ R11, R13 // what is escaped

	VPAND Y0, Y13, Y4
	VPAND Y1, Y13, Y5
	VPSRLW $4, Y0, Y6
	VPSRLW $4, Y1, Y7
	VPAND Y6, Y13, Y6
	VPAND Y7, Y13, Y7
	VPSHUFB Y4, Y11, Y4
	VPSHUFB Y5, Y11, Y5
	VPSHUFB Y6, Y12, Y6
	VPSHUFB Y7, Y12, Y7
	VPAND Y6, Y4, Y4
	VPAND Y7, Y5, Y5
	VPCMPEQB Y14, Y4, Y4
	VPCMPEQB Y14, Y5, Y5
	VPMOVMSKB Y4, R9
	VPMOVMSKB Y5, R10
	SHLQ $32, R10
	ORQ R10, R9
	ANDQ R13, R9 // escaped, and not to be
	NOTQ R13
	ANDQ R13, R8
	BTQ $0, R9
	JCS before
	SHRQ $1, R9
	ORQ R9, R8
	JZ next

found:
	BSFQ R8, R8
	ADDQ R8, AX
	JMP out

before:
	DECQ AX
	JMP out

ended:
	SUBQ DX, AX

out:
	VPMOVMSKB Y15, R8
	TESTL R8, R8
	SETNE high+24(FP)
	MOVQ AX, at+16(FP)
	VZEROUPPER
	RET

// func markStops(p *byte, n int, marks *uint64) (high bool)
//
// The registers are those of passText, but for CX: how many bytes of a block are in the one before it.
TEXT ·markStops(SB), NOSPLIT, $0-25
	MOVQ p+0(FP), SI
	MOVQ n+8(FP), AX
	MOVQ marks+16(FP), DI
	XORQ CX, CX
	XORQ DX, DX
	MOVQ $0xaaaaaaaaaaaaaaaa, BX
	VPBROADCASTQ quotes<>(SB), Y8
	VPBROADCASTQ backslashes<>(SB), Y9
	VPBROADCASTQ controls<>(SB), Y10
	VBROADCASTI128 simpleLow<>(SB), Y11
	VBROADCASTI128 simpleHigh<>(SB), Y12
	VPBROADCASTQ lowerHalf<>(SB), Y13
	VPXOR Y14, Y14, Y14
	VPXOR Y15, Y15, Y15 // all bytes or-ed

block:
	VMOVDQU (SI), Y0
	VMOVDQU 32(SI), Y1
	VPOR Y0, Y15, Y15
	VPOR Y1, Y15, Y15
	VPCMPEQB Y0, Y8, Y2
	VPCMPEQB Y1, Y8, Y3
	VPMINUB Y0, Y10, Y4
	VPMINUB Y1, Y10, Y5
	VPCMPEQB Y0, Y4, Y4
	VPCMPEQB Y1, Y5, Y5
	VPOR Y4, Y2, Y2 // quotes and control characters
	VPOR Y5, Y3, Y3
	VPCMPEQB Y0, Y9, Y4 // backslashes
	VPCMPEQB Y1, Y9, Y5
	VPMOVMSKB Y2, R8
	VPMOVMSKB Y3, R9
	SHLQ $32, R9
	ORQ R9, R8
	SHRQ CX, R8
	VPMOVMSKB Y4, R10
	VPMOVMSKB Y5, R11
	SHLQ $32, R11
	ORQ R11, R10
	SHRQ CX, R10
	MOVQ R10, R11
	ORQ DX, R11
	JNZ escapes

store:
	MOVQ R8, (DI)
	ADDQ $64, SI
	ADDQ $8, DI
	SUBQ $64, AX
	JZ out
	CMPQ AX, $64
	JGE block
	TESTQ AX, AX
	JL out
	MOVQ $64, CX // the last block is not whole: it is taken together with the end of the one before
	SUBQ AX, CX
	SUBQ CX, SI
	JMP block

out:
	VPMOVMSKB Y15, R8
	TESTL R8, R8
	SETNE high+24(FP)
	VZEROUPPER
	RET

escapes:
	MOVQ DX, R12
	NOTQ R12
	ANDQ R10, R12
	LEAQ (R12)(R12*1), R13
	ORQ BX, R13
	SUBQ R12, R13
	XORQ BX, R13
	MOVQ R13, DX
	ANDQ R10, DX // those that escape
	XORQ R11, R13 // what is escaped
	SHRQ $63, DX
	VPAND Y0, Y13, Y4
	VPAND Y1, Y13, Y5
	VPSRLW $4, Y0, Y6
	VPSRLW $4, Y1, Y7
	VPAND Y6, Y13, Y6
	VPAND Y7, Y13, Y7
	VPSHUFB Y4, Y11, Y4
	VPSHUFB Y5, Y11, Y5
	VPSHUFB Y6, Y12, Y6
	VPSHUFB Y7, Y12, Y7
	VPAND Y6, Y4, Y4
	VPAND Y7, Y5, Y5
	VPCMPEQB Y14, Y4, Y4
	VPCMPEQB Y14, Y5, Y5
	VPMOVMSKB Y4, R9
	VPMOVMSKB Y5, R10
	SHLQ $32, R10
	ORQ R10, R9
	SHRQ CX, R9
	ANDQ R13, R9 // escaped, and not to be
	NOTQ R13
	ANDQ R13, R8
	BTQ $0, R9
	JCC inside
	BTSQ $63, -8(DI) // its backslash is in the block before

inside:
	SHRQ $1, R9
	ORQ R9, R8
	JMP store

// What two bytes behind each other can't be, by the halves of the first and the upper half of the second: a bit that all three
// entries have is a fault. 1: a first byte without the next; 2: a continuation behind ASCII; 4, 32 and 64: more bytes than
// the character needs; 8 and 64: beyond U+10FFFF; 16: a surrogate; 128: two continuations, which is no fault where a character
// has more than two bytes, and one where it has not.
DATA firstHigh<>+0(SB)/8, $0x0202020202020202
DATA firstHigh<>+8(SB)/8, $0x4915012180808080
GLOBL firstHigh<>(SB), RODATA|NOPTR, $16
DATA firstLow<>+0(SB)/8, $0xcbcbcb8b8383a3e7
DATA firstLow<>+8(SB)/8, $0xcbcbdbcbcbcbcbcb
GLOBL firstLow<>(SB), RODATA|NOPTR, $16
DATA nextHigh<>+0(SB)/8, $0x0101010101010101
DATA nextHigh<>+8(SB)/8, $0x01010101babaaee6
GLOBL nextHigh<>(SB), RODATA|NOPTR, $16

// What the last bytes of a block must not be above, for its last character to end in it.
DATA endsWhole<>+0(SB)/8, $0xffffffffffffffff
DATA endsWhole<>+8(SB)/8, $0xffffffffffffffff
DATA endsWhole<>+16(SB)/8, $0xffffffffffffffff
DATA endsWhole<>+24(SB)/8, $0xbfdfefffffffffff
GLOBL endsWhole<>(SB), RODATA|NOPTR, $32

DATA thirdFrom<>+0(SB)/8, $0x6060606060606060 // 0xe0 - 0x80
GLOBL thirdFrom<>(SB), RODATA|NOPTR, $8
DATA fourthFrom<>+0(SB)/8, $0x7070707070707070 // 0xf0 - 0x80
GLOBL fourthFrom<>(SB), RODATA|NOPTR, $8
DATA highBit<>+0(SB)/8, $0x8080808080808080
GLOBL highBit<>(SB), RODATA|NOPTR, $8

// func passUTF8(p *byte, blocks int) (at int)
//
// The way of J. Keiser and D. Lemire, Validating UTF-8 in less than one instruction per byte (2021).
TEXT ·passUTF8(SB), NOSPLIT, $0-24
	MOVQ p+0(FP), SI
	MOVQ blocks+8(FP), CX
	XORQ AX, AX
	VBROADCASTI128 firstHigh<>(SB), Y6
	VBROADCASTI128 firstLow<>(SB), Y7
	VBROADCASTI128 nextHigh<>(SB), Y8
	VMOVDQU endsWhole<>(SB), Y9
	VPBROADCASTQ thirdFrom<>(SB), Y10
	VPBROADCASTQ fourthFrom<>(SB), Y11
	VPBROADCASTQ highBit<>(SB), Y12
	VPBROADCASTQ lowerHalf<>(SB), Y13
	VPXOR Y14, Y14, Y14 // not zero where the block before ends inside a character
	VPXOR Y15, Y15, Y15 // the block before

block:
	TESTQ CX, CX
	JZ out
	VMOVDQU (SI)(AX*1), Y0
	VPTEST Y12, Y0
	JNZ look
	VPTEST Y14, Y14
	JNZ out
	JMP next

look:
	VPERM2I128 $0x21, Y0, Y15, Y5 // the upper half of the block before, and the lower of this
	VPALIGNR $15, Y5, Y0, Y1      // each byte's predecessor
	VPSRLW $4, Y1, Y2
	VPAND Y2, Y13, Y2
	VPSHUFB Y2, Y6, Y2
	VPAND Y1, Y13, Y3
	VPSHUFB Y3, Y7, Y3
	VPAND Y3, Y2, Y2
	VPSRLW $4, Y0, Y3
	VPAND Y3, Y13, Y3
	VPSHUFB Y3, Y8, Y3
	VPAND Y3, Y2, Y2
	VPALIGNR $14, Y5, Y0, Y3
	VPALIGNR $13, Y5, Y0, Y4
	VPSUBUSB Y10, Y3, Y3
	VPSUBUSB Y11, Y4, Y4
	VPOR Y4, Y3, Y3
	VPAND Y12, Y3, Y3 // where a third or fourth byte has to be
	VPXOR Y3, Y2, Y2
	VPTEST Y2, Y2
	JNZ out
	VPSUBUSB Y9, Y0, Y14

next:
	VMOVDQA Y0, Y15
	ADDQ $32, AX
	DECQ CX
	JMP block

out:
	MOVQ AX, at+16(FP)
	VZEROUPPER
	RET
