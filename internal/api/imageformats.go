package api

import (
	"bytes"
	"encoding/binary"
)

// imageFormats are those that the model API accepts (OpenAI's documentation of image input: PNG, JPEG, WebP and GIF),
// how their files begin, and how to find out whether a file is complete.
var imageFormats = []struct {
	name  string
	magic string
	at    int // offset of the magic, in bytes
	whole func(bytesOf) bool
}{
	{"png", "\x89PNG\r\n\x1a\n", 0, wholePNG},
	{"jpeg", "\xff\xd8\xff", 0, func(bytesOf) bool { return true }}, // readers accept a truncated one
	{"gif", "GIF8", 0, wholeGIF},
	{"webp", "WEBP", 8, wholeWebP},
}

// look returns the type of an image by its first bytes, and in words why it can't be read.
func (d bytesOf) look() (real, fault string) {
	head := d.at(0, 16)
	for _, f := range imageFormats {
		if len(head) >= f.at && bytes.HasPrefix(head[f.at:], []byte(f.magic)) {
			if !f.whole(d) {
				return f.name, "it is cut short"
			}
			return f.name, ""
		}
	}
	return "", "its data is no PNG, JPEG, GIF or WebP"
}

// wholePNG walks over the chunks: each has a length, a type, its data and a checksum. IEND is the last.
func wholePNG(d bytesOf) bool {
	const around = 12 // bytes of a chunk besides its data
	for at := 8; at+around <= d.len(); {
		head := d.at(at, 8)
		if string(head[4:]) == "IEND" {
			return true
		}
		size := binary.BigEndian.Uint32(head)
		if int64(size) > int64(d.len()) {
			return false
		}
		at += around + int(size)
	}
	return false
}

// wholeWebP checks the length after the first eight bytes that the file's header gives.
func wholeWebP(d bytesOf) bool {
	return int64(binary.LittleEndian.Uint32(d.at(4, 4)))+8 <= int64(d.len())
}

// wholeGIF walks over the blocks up to the end of the first picture, which is all that clients read.
func wholeGIF(d bytesOf) bool {
	const (
		header, descriptor  = 13, 10
		extension, picture  = 0x21, 0x2c
		headFlags, picFlags = 10, 9 // offsets of the flags of the colour table
	)
	byteAt := func(at int) (b byte, ok bool) {
		got := d.at(at, 1)
		if len(got) == 0 {
			return 0, false
		}
		return got[0], true
	}
	flags, ok := byteAt(headFlags)
	at := header + colours(flags)
	for ok {
		var kind byte
		kind, ok = byteAt(at)
		switch {
		case !ok:
			return false
		case kind == extension:
			at += 2
		case kind == picture:
			if flags, ok = byteAt(at + picFlags); !ok {
				return false
			}
			at += descriptor + colours(flags) + 1
		default:
			return false
		}
		for size := byte(1); size != 0; {
			if size, ok = byteAt(at); !ok {
				return false
			}
			at += 1 + int(size)
		}
		if kind == picture {
			return at <= d.len()
		}
	}
	return false
}

// colours returns the length of the colour table that the flags announce, in bytes.
func colours(flags byte) int {
	if flags&0x80 == 0 {
		return 0
	}
	return 3 << (flags&7 + 1)
}
