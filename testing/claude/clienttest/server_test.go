package clienttest

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
)

// TestServerReachesNothing: the stand-in is a proxy to itself, and to nothing else.
func TestServerReachesNothing(t *testing.T) {
	s := NewServer()
	defer s.Close()
	self := strings.TrimPrefix(s.URL(), "http://")
	for host, want := range map[string]int{self: http.StatusOK, "127.0.0.1:1": http.StatusForbidden, "example.com:443": http.StatusForbidden} {
		conn, err := net.Dial("tcp", self)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		fmt.Fprintf(conn, "CONNECT %s HTTP/1.1\r\nHost: %s\r\n\r\n", host, host)
		in := bufio.NewReader(conn)
		res, err := http.ReadResponse(in, &http.Request{Method: http.MethodConnect})
		if err != nil {
			t.Fatal(err)
		}
		if res.StatusCode != want {
			t.Errorf("%s: %s", host, res.Status)
		}
		if want != http.StatusOK {
			continue
		}
		fmt.Fprintf(conn, "POST /v1/messages/count_tokens HTTP/1.1\r\nHost: %s\r\nContent-Length: 2\r\n\r\n{}", host)
		if res, err = http.ReadResponse(in, nil); err != nil || res.StatusCode != http.StatusOK {
			t.Errorf("through the tunnel: %v %v", res, err)
		}
	}
}
