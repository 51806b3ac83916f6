// Package image looks at the images of prompts and outputs without decoding them. In: the address of an image, inline or
// not. Out: what is wrong with it, if anything. It walks over the data once; no pixel is touched.
package image

import (
	"bytes"
	"encoding/base64"
	"runtime"
	"strings"
)

// prefix begins the address of an inline image.
const prefix = "data:"

// maxHead is how much of what stands in front of the data is looked at, in bytes.
const maxHead = 100

// maxBytes is how many bytes the images of one request may have (OpenAI's guide to image input: 50 MB a request).
const maxBytes = 50 << 20

// Verdict is what is known of an image.
type Verdict struct {
	// Fault is what keeps everybody from reading it, in words; "" if nothing does.
	Fault string
	// Place says where it is.
	Place Place
	// Declared is the type that its address names, and Real the one that its data begins like, as in png; "" if unknown.
	Declared, Real string
	// Plain: the address has no more than a type of image in front of its data, in lower case.
	Plain bool
}

// Place is where an image is.
type Place uint8

// The places.
const (
	Inline  Place = iota // in its address
	Web                  // at http: or https:
	Nowhere              // the address is neither
)

// Check looks at the address of an image. Clients from 0.145 on go by the data alone, and want it whole (a JPEG may be cut
// short); older ones pass the address on, and the model API goes by what it names, too. Measured with 0.79.0, 0.114.0,
// 0.145.0 and 0.169.0.
func Check(url []byte) Verdict {
	if len(url) < len(prefix) || !bytes.EqualFold(url[:len(prefix)], []byte(prefix)) {
		return elsewhere(url)
	}
	head, data, ok := bytes.Cut(url[len(prefix):], []byte(","))
	head = head[:min(len(head), maxHead)]
	kind, parameters, _ := strings.Cut(string(head), ";")
	declared, isImage := strings.CutPrefix(strings.ToLower(kind), "image/")
	v := Verdict{Declared: declared, Plain: isImage && declared != "" && string(head) == "image/"+declared+";base64"}
	switch {
	case !ok:
		v.Fault = "it has no data"
	case !encoded(parameters):
		v.Fault = "its data is not base64"
	case len(data) == 0:
		v.Fault = "it is empty"
	case len(data)/4*3 > maxBytes:
		v.Fault = "it is over 50 MB, which is all that a request may hold"
	case NotBase64(data):
		v.Fault = "its data does not decode"
	default:
		v.Real, v.Fault = bytesOf(data).look()
	}
	return v
}

func elsewhere(url []byte) Verdict {
	scheme, _, _ := strings.Cut(string(url[:min(len(url), 8)]), "://")
	switch strings.ToLower(scheme) {
	case "http", "https":
		return Verdict{Place: Web}
	}
	return Verdict{Place: Nowhere, Fault: "its address is neither data nor one of the web"}
}

// encoded says whether base64 is among the parameters of an address.
func encoded(parameters string) bool {
	for p := range strings.SplitSeq(parameters, ";") {
		if strings.EqualFold(p, "base64") {
			return true
		}
	}
	return false
}

// NotBase64 says whether data is not base64 in its standard form, padded.
func NotBase64(data []byte) bool {
	body := bytes.TrimRight(data, "=")
	if pad := len(data) - len(body); pad > 2 || len(data)%4 != 0 {
		return true
	}
	if len(body) < largeData || runtime.GOMAXPROCS(0) == 1 {
		return otherDigits(body)
	}
	half, first := body[:len(body)/2], make(chan bool, 1)
	go func() { first <- otherDigits(half) }()
	second := otherDigits(body[len(half):])
	return <-first || second
}

// largeData is the length in bytes from which on data is looked at by two goroutines: who waits for the verdict on a long
// line keeps all others waiting.
const largeData = 1 << 20

// otherDigits says whether there is a byte that is no digit of base64.
func otherDigits(body []byte) bool {
	for len(body) >= 8 {
		b := body[:8]
		if strange[b[0]]|strange[b[1]]|strange[b[2]]|strange[b[3]]|strange[b[4]]|strange[b[5]]|strange[b[6]]|strange[b[7]] != 0 {
			return true
		}
		body = body[8:]
	}
	for _, c := range body {
		if strange[c] != 0 {
			return true
		}
	}
	return false
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

// bytesOf is base64 that decodes, read at any place.
type bytesOf []byte

func (d bytesOf) len() int {
	return len(d)/4*3 - (len(d) - len(bytes.TrimRight(d, "=")))
}

// at returns n bytes, or as many as there are, from an offset on.
func (d bytesOf) at(offset, n int) []byte {
	from := min(offset/3*4, len(d))
	to := min((offset+n+2)/3*4, len(d))
	out, err := base64.StdEncoding.AppendDecode(nil, d[from:max(from, to)])
	if err != nil {
		return nil
	}
	out = out[min(offset%3, len(out)):]
	return out[:min(n, len(out))]
}
