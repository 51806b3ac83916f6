package api

import (
	"bytes"
	"encoding/base64"
	"runtime"
	"strings"
)

// dataURL begins the URL of an inline image.
const dataURL = "data:"

// maxImageHead is how much of the part before the data is read, in bytes.
const maxImageHead = 100

// maxImageBytes is how many bytes the images of one request may have (OpenAI's guide to image input: 50 MB per request).
const maxImageBytes = 50 << 20

// ImageVerdict is what is known of an image.
type ImageVerdict struct {
	// Fault says in words why nobody can read it; "" if it can be read.
	Fault string
	// Place says where it is.
	Place ImagePlace
	// Declared is the type that its URL names, and Real the type by its first bytes, both like "png"; "" if unknown.
	Declared, Real string
	// Plain says that the URL has the form data:image/TYPE;base64,DATA with the type in lower case and nothing else.
	Plain bool
}

// ImagePlace is where an image is.
type ImagePlace uint8

// The places.
const (
	Inline  ImagePlace = iota // in a data: URL
	Web                       // at http: or https:
	Nowhere                   // any other URL
)

// CheckImage checks the URL of an image. Codex's clients from 0.145 on look only at the data, which must be complete (but a JPEG may be
// truncated); older ones pass the URL on, and the model API also looks at the type that it names. Measured with 0.79.0,
// 0.114.0, 0.145.0 and 0.169.0.
func CheckImage(url []byte) ImageVerdict {
	if len(url) < len(dataURL) || !bytes.EqualFold(url[:len(dataURL)], []byte(dataURL)) {
		return imageElsewhere(url)
	}
	head, data, ok := bytes.Cut(url[len(dataURL):], []byte(","))
	head = head[:min(len(head), maxImageHead)]
	kind, parameters, _ := strings.Cut(string(head), ";")
	declared, isImage := strings.CutPrefix(strings.ToLower(kind), "image/")
	v := ImageVerdict{Declared: declared, Plain: isImage && declared != "" && string(head) == "image/"+declared+";base64"}
	switch {
	case !ok:
		v.Fault = "it has no data"
	case !isBase64(parameters):
		v.Fault = "its data is not base64"
	case len(data) == 0:
		v.Fault = "it is empty"
	case len(data)/4*3 > maxImageBytes:
		v.Fault = "it is over 50 MB, which is all that a request may hold"
	case NotBase64(data):
		v.Fault = "its data does not decode"
	default:
		v.Real, v.Fault = bytesOf(data).look()
	}
	return v
}

func imageElsewhere(url []byte) ImageVerdict {
	scheme, _, _ := strings.Cut(string(url[:min(len(url), 8)]), "://")
	switch strings.ToLower(scheme) {
	case "http", "https":
		return ImageVerdict{Place: Web}
	}
	return ImageVerdict{Place: Nowhere, Fault: "its address is neither data nor one of the web"}
}

// isBase64 says whether base64 is among the parameters of a data: URL.
func isBase64(parameters string) bool {
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
		return hasNonDigit(body)
	}
	half, first := body[:len(body)/2], make(chan bool, 1)
	go func() { first <- hasNonDigit(half) }()
	second := hasNonDigit(body[len(half):])
	return <-first || second
}

// largeData is the length in bytes from which on two goroutines check the data: while one line waits for its verdict, all
// later lines wait, too.
const largeData = 1 << 20

// bytesOf is valid base64, whose decoded bytes can be read at any offset.
type bytesOf []byte

func (d bytesOf) len() int {
	return len(d)/4*3 - (len(d) - len(bytes.TrimRight(d, "=")))
}

// at returns n decoded bytes from an offset on, or as many as there are.
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
