// Package image looks at inline images without decoding them. In: a data: URL. Out: what is wrong with it, if anything.
// It reads the first bytes only, and walks over the rest once; no pixel is touched.
package image

import (
	"bytes"
	"encoding/base64"
	"strings"
)

// prefix begins the address of an inline image.
const prefix = "data:"

// types are the images that the model API takes, by how their files begin (OpenAI's documentation of image input: PNG,
// JPEG, WebP and GIF).
var types = []struct {
	name  string
	magic string
	at    int // offset of the magic, in bytes
}{
	{"png", "\x89PNG\r\n\x1a\n", 0},
	{"jpeg", "\xff\xd8\xff", 0},
	{"gif", "GIF8", 0},
	{"webp", "WEBP", 8},
}

// maxHead is how much of what stands in front of the data is looked at, in bytes.
const maxHead = 100

// maxBytes is how many bytes the images of one request may have (OpenAI's guide to image input: 50 MB a request).
const maxBytes = 50 << 20

// headBytes is how much of an image is decoded to tell its type.
const headBytes = 16

// Mislabelled says what an inline image really is, where its address names another type that the API takes; "" if it does
// not.
func Mislabelled(url []byte) (real string) {
	head, data, _ := bytes.Cut(bytes.TrimPrefix(url, []byte(prefix)), []byte(","))
	declared, _, _ := bytes.Cut(head[:min(len(head), maxHead)], []byte(";"))
	real = known(data)
	switch string(declared) {
	case "image/" + real, "image/jpg":
		return ""
	case "image/png", "image/jpeg", "image/gif", "image/webp":
		return real
	}
	return ""
}

// Check says what keeps the model API from reading an inline image, "" if nothing does. An address that is not inline is
// none of its business. declared is the type that the address names.
func Check(url []byte) (fault, declared string) {
	rest, ok := bytes.CutPrefix(url, []byte(prefix))
	if !ok {
		return "", ""
	}
	head, data, ok := bytes.Cut(rest, []byte(","))
	declared, encoding, _ := strings.Cut(string(head[:min(len(head), maxHead)]), ";")
	declared, image := strings.CutPrefix(declared, "image/")
	switch {
	case !ok:
		return "it has no data", declared
	case !image || declared == "":
		return "its address names no type of image", declared
	case encoding != "base64":
		return "its data is not base64", declared
	case len(data) == 0:
		return "it is empty", declared
	case len(data)/4*3 > maxBytes:
		return "it is over 50 MB, which is all that a request may hold", declared
	}
	if at := notBase64(data); at >= 0 {
		return "its data does not decode", declared
	}
	if known(data) == "" {
		return "its data is no PNG, JPEG, GIF or WebP", declared
	}
	return "", declared
}

// known returns the type of an image by its first bytes, "" if it is none that the API takes.
func known(data []byte) string {
	n := min(len(data)/4*4, headBytes/3*4+4)
	head, err := base64.StdEncoding.DecodeString(string(data[:n]))
	if err != nil {
		return ""
	}
	for _, t := range types {
		if len(head) >= t.at && bytes.HasPrefix(head[t.at:], []byte(t.magic)) {
			return t.name
		}
	}
	return ""
}

// notBase64 returns the offset of the first byte that keeps data from being decoded, -1 if there is none.
func notBase64(data []byte) int {
	body := bytes.TrimRight(data, "=")
	if pad := len(data) - len(body); pad > 2 || len(data)%4 != 0 {
		return len(body)
	}
	i := 0
	for ; i+8 <= len(body); i += 8 {
		b := body[i : i+8 : i+8]
		if strange[b[0]]|strange[b[1]]|strange[b[2]]|strange[b[3]]|strange[b[4]]|strange[b[5]]|strange[b[6]]|strange[b[7]] != 0 {
			break
		}
	}
	for ; i < len(body); i++ {
		if strange[body[i]] != 0 {
			return i
		}
	}
	return -1
}

// strange is 1 for every byte that is no digit of base64.
var strange = func() (s [256]byte) {
	for i := range s {
		s[i] = 1
	}
	for _, c := range "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/" {
		s[c] = 0
	}
	return s
}()
