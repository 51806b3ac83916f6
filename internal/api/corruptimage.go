package api

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"hash/crc32"
)

// pdfEdge is how many bytes of a PDF may stand in front of its first mark, and behind its last one.
const pdfEdge = 1024

// corruptImage says what is wrong inside of the image or the PDF of a data: URL, "" if nothing is seen. Whether an API minds is only known once
// it has refused one: it looks at all of the data, as CheckImage does not.
func corruptImage(url []byte) string {
	_, data, _ := bytes.Cut(url, []byte(","))
	raw, err := base64.StdEncoding.DecodeString(string(data))
	switch {
	case err != nil:
		return ""
	case bytes.HasPrefix(raw, []byte("\x89PNG\r\n\x1a\n")):
		for part := raw[8:]; len(part) >= 12; {
			n := int64(binary.BigEndian.Uint32(part)) + 8 // its length, its type and what it holds; a checksum follows
			if n+4 > int64(len(part)) {
				break
			}
			if crc32.ChecksumIEEE(part[4:n]) != binary.BigEndian.Uint32(part[n:]) {
				return "a checksum in it is wrong"
			}
			part = part[n+4:]
		}
	case bytes.Contains(raw[:min(len(raw), pdfEdge)], []byte("%PDF-")) && bytes.Contains(raw, []byte("/Encrypt")):
		return "it is encrypted"
	case bytes.Contains(raw[:min(len(raw), pdfEdge)], []byte("%PDF-")) && !bytes.Contains(raw[max(0, len(raw)-pdfEdge):], []byte("%%EOF")):
		return "its end is missing"
	}
	return ""
}
