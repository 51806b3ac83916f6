package api

import (
	"bytes"
	"encoding/base64"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"math/rand"
	"strings"
	"testing"
)

func url(kind, raw string) string {
	return "data:image/" + kind + ";base64," + base64.StdEncoding.EncodeToString([]byte(raw))
}

// pictures are the same noise in all formats but WebP, of which there is a single dot.
func pictures(t testing.TB) map[string]string {
	t.Helper()
	rng := rand.New(rand.NewSource(1))
	dots := image.NewPaletted(image.Rect(0, 0, 70, 70), color.Palette{color.Black, color.White, color.RGBA{9, 9, 9, 255}})
	for i := range dots.Pix {
		dots.Pix[i] = byte(rng.Intn(3))
	}
	var p, j, g bytes.Buffer
	for _, err := range []error{png.Encode(&p, dots), jpeg.Encode(&j, dots, nil), gif.Encode(&g, dots, nil)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	webp, err := base64.StdEncoding.DecodeString("UklGRiIAAABXRUJQVlA4IBYAAAAwAQCdASoBAAEADsD+JaQAA3AAAAAA")
	if err != nil {
		t.Fatal(err)
	}
	return map[string]string{"png": p.String(), "jpeg": j.String(), "gif": g.String(), "webp": string(webp)}
}

// TestWholeImage: an image is whole with anything behind it, and cut short wherever it is cut, but for a JPEG.
func TestWholeImage(t *testing.T) {
	for kind, raw := range pictures(t) {
		for _, whole := range []string{raw, raw + "more"} {
			if v := CheckImage([]byte(url(kind, whole))); v != (ImageVerdict{Declared: kind, Real: kind, Plain: true}) {
				t.Errorf("%s: %+v", kind, v)
			}
		}
		for n := 16; n < len(raw); n += 1 + len(raw)/100 {
			v := CheckImage([]byte(url(kind, raw[:n])))
			if kind == "gif" && n == len(raw)-1 {
				continue // the picture is there
			}
			if kind != "jpeg" && v.Fault != "it is cut short" || kind == "jpeg" && v.Fault != "" {
				t.Errorf("%s, %d of %d bytes: %+v", kind, n, len(raw), v)
			}
		}
	}
}

func TestCheckImage(t *testing.T) {
	pics := pictures(t)
	picture := pics["png"]
	data := base64.StdEncoding.EncodeToString([]byte(picture))
	for _, c := range []struct {
		url  string
		want ImageVerdict
	}{
		{url("jpeg", picture), ImageVerdict{Declared: "jpeg", Real: "png", Plain: true}},
		{"data:application/octet-stream;base64," + data, ImageVerdict{Declared: "application/octet-stream", Real: "png"}},
		{"data:;base64," + data, ImageVerdict{Real: "png"}},
		{"data:image/;base64," + data, ImageVerdict{Real: "png"}},
		{"DATA:Image/PNG;BASE64," + data, ImageVerdict{Declared: "png", Real: "png"}},
		{"data:image/png;charset=utf-8;base64," + data, ImageVerdict{Declared: "png", Real: "png"}},
		{"data:image/png;base64;charset=utf-8," + data, ImageVerdict{Declared: "png", Real: "png"}},
		{"https://example.com/a.png", ImageVerdict{Place: Web}},
		{"HTTP://example.com/a.png", ImageVerdict{Place: Web}},
		{"", ImageVerdict{Place: Nowhere, Fault: "its address is neither data nor one of the web"}},
		{"/tmp/x.png", ImageVerdict{Place: Nowhere, Fault: "its address is neither data nor one of the web"}},
		{" " + url("png", picture), ImageVerdict{Place: Nowhere, Fault: "its address is neither data nor one of the web"}},
		{url("png", ""), ImageVerdict{Declared: "png", Plain: true, Fault: "it is empty"}},
		{url("bmp", "BM"+strings.Repeat("x", 40)), ImageVerdict{Declared: "bmp", Plain: true, Fault: "its data is no PNG, JPEG, GIF or WebP"}},
		{"data:image/png;base64", ImageVerdict{Declared: "png", Plain: true, Fault: "it has no data"}},
		{"data:image/png," + data, ImageVerdict{Declared: "png", Fault: "its data is not base64"}},
		{"data:image/png; base64," + data, ImageVerdict{Declared: "png", Fault: "its data is not base64"}},
		{"data:image/png;base64," + data[:41], ImageVerdict{Declared: "png", Plain: true, Fault: "its data does not decode"}},
		{"data:image/png;base64, " + data, ImageVerdict{Declared: "png", Plain: true, Fault: "its data does not decode"}},
		{"data:image/png;base64," + data[:40] + "\n" + data[40:], ImageVerdict{Declared: "png", Plain: true, Fault: "its data does not decode"}},
		{"data:image/png;base64," + strings.ReplaceAll(data, "+", "-"), ImageVerdict{Declared: "png", Plain: true, Fault: "its data does not decode"}},
		{"data:image/png;base64,====", ImageVerdict{Declared: "png", Plain: true, Fault: "its data does not decode"}},
		{"data:image/png;base64,iVBO", ImageVerdict{Declared: "png", Plain: true, Fault: "its data is no PNG, JPEG, GIF or WebP"}},
		{url("png", picture+strings.Repeat("x", 50<<20)), ImageVerdict{Declared: "png", Plain: true, Fault: "it is over 50 MB, which is all that a request may hold"}},
	} {
		if got := CheckImage([]byte(c.url)); got != c.want {
			t.Errorf("%.60s:\n%+v, want\n%+v", c.url, got, c.want)
		}
	}
}

func FuzzCheck(f *testing.F) {
	for kind, raw := range pictures(f) {
		f.Add(url(kind, raw))
	}
	f.Add("data:image/")
	f.Fuzz(func(t *testing.T, s string) {
		v := CheckImage([]byte(s))
		_, data, _ := strings.Cut(s, ",")
		raw, err := base64.StdEncoding.DecodeString(data)
		if v.Fault != "" || v.Place != Inline {
			return
		}
		if err != nil {
			t.Fatalf("%q passes, but does not decode: %v", s, err)
		}
		if got := bytesOf(data); got.len() != len(raw) || !bytes.Equal(got.at(1, 5), raw[1:6]) {
			t.Errorf("%q: %d bytes, want %d; %q", s, got.len(), len(raw), got.at(1, 5))
		}
	})
}

// TestLargeData: a byte that is not a base64 digit is found wherever it is in a long image.
func TestLargeData(t *testing.T) {
	data := []byte(base64.StdEncoding.EncodeToString([]byte(pictures(t)["png"] + strings.Repeat("more", largeData))))
	if NotBase64(data) {
		t.Fatal("it is base64")
	}
	for _, at := range []int{0, 7, len(data)/2 - 1, len(data) / 2, len(data)/2 + 1, len(data) - 1} {
		was := data[at]
		if data[at] = '-'; !NotBase64(data) {
			t.Errorf("what stands at %d of %d is not found", at, len(data))
		}
		data[at] = was
	}
}

// TestCorruptImage: what an API may refuse of an image or a PDF that CheckImage takes.
func TestCorruptImage(t *testing.T) {
	png := pictures(t)["png"]
	pdf := "%PDF-1.4\n1 0 obj<</Type/Catalog>>endobj\ntrailer<</Root 1 0 R>>\n%%EOF\n"
	for raw, want := range map[string]string{
		png: "",
		png[:len(png)-17] + "x" + png[len(png)-16:]: "a checksum in it is wrong",
		pdf:              "",
		pdf[:len(pdf)-6]: "its end is missing",
		strings.Replace(pdf, "/Root", "/Encrypt 2 0 R/Root", 1): "it is encrypted",
		"GIF89a": "",
	} {
		if got := corruptImage([]byte(url("image/png", raw))); got != want {
			t.Errorf("%q: %q, want %q", raw, got, want)
		}
	}
}
