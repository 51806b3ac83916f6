package api

import "golang.org/x/sys/cpu"

// wideDigits says whether the processor looks at 32 bytes at a time. In a test it can be switched off.
var wideDigits = cpu.X86.HasAVX2

// passDigits passes blocks of 64 bytes in which there are only base64 digits.
//
//go:noescape
func passDigits(p *byte, blocks int) (at int)
