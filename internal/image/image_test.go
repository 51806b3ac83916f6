package image

import (
	"encoding/base64"
	"strings"
	"testing"
)

func url(kind, raw string) string {
	return "data:image/" + kind + ";base64," + base64.StdEncoding.EncodeToString([]byte(raw))
}

func TestCheck(t *testing.T) {
	png := "\x89PNG\r\n\x1a\n" + strings.Repeat("x", 50)
	for _, c := range []struct{ url, fault string }{
		{url("png", png), ""},
		{url("jpeg", "\xff\xd8\xff\xe0"+strings.Repeat("x", 51)), ""},
		{url("gif", "GIF89a"+strings.Repeat("x", 52)), ""},
		{url("webp", "RIFF\x10\x00\x00\x00WEBPVP8 "+strings.Repeat("x", 40)), ""},
		{url("jpeg", png), ""}, // the type that it says is Mislabelled's
		{"https://example.com/a.png", ""},
		{"", ""},
		{url("png", ""), "empty"},
		{url("bmp", "BM"+strings.Repeat("x", 40)), "no PNG"},
		{url("svg+xml", "<svg xmlns='http://www.w3.org/2000/svg'/>"), "no PNG"},
		{"data:image/png;base64", "no data"},
		{"data:image;base64,iVBORw0KGgo=", "names no type"},
		{"data:image/;base64,iVBORw0KGgo=", "names no type"},
		{"data:application/pdf;base64,JVBERi0=", "names no type"},
		{url("png", png+strings.Repeat("x", 50<<20)), "over 50 MB"},
		{"data:image/png,hello", "not base64"},
		{url("png", png)[:40], "does not decode"},
		{url("png", png)[:40] + "\ufffd\ufffd" + url("png", png)[46:], "does not decode"},
		{"data:image/png;base64,====", "does not decode"},
		{"data:image/png;base64,iVBO", "no PNG"},
	} {
		if fault, _ := Check([]byte(c.url)); (fault == "") != (c.fault == "") || !strings.Contains(fault, c.fault) {
			t.Errorf("%.60s: %q, want %q", c.url, fault, c.fault)
		}
	}
}

func TestMislabelled(t *testing.T) {
	png := "\x89PNG\r\n\x1a\n" + strings.Repeat("x", 50)
	for _, c := range []struct{ url, real string }{
		{url("png", png), ""},
		{url("jpeg", png), "png"},
		{url("jpg", "\xff\xd8\xff\xe0"+strings.Repeat("x", 51)), ""},
		{url("png", "\xff\xd8\xff\xe0"+strings.Repeat("x", 51)), "jpeg"},
		{url("bmp", png), ""},
		{"https://example.com/a.png", ""},
	} {
		if real := Mislabelled([]byte(c.url)); real != c.real {
			t.Errorf("%.40s: %q, want %q", c.url, real, c.real)
		}
	}
}

func FuzzCheck(f *testing.F) {
	f.Add(url("png", "\x89PNG\r\n\x1a\n"))
	f.Add("data:image/")
	f.Fuzz(func(t *testing.T, s string) {
		fault, _ := Check([]byte(s))
		_, data, _ := strings.Cut(s, ",")
		if _, err := base64.StdEncoding.DecodeString(data); fault == "" && strings.HasPrefix(s, prefix) && err != nil && !strings.ContainsAny(data, "\r\n") {
			t.Errorf("%q passes, but does not decode: %v", s, err)
		}
	})
}
