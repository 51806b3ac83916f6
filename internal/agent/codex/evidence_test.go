package codex

import (
	"testing"

	"github.com/hist-cli/hist/internal/session"
)

// TestTokens: a count is read as clients write it, and as other programs write it anew.
func TestTokens(t *testing.T) {
	for raw, want := range map[string][2]int64{
		`{"payload":{"type":"token_count","info":{"total_token_usage":{"input_tokens":5,"total_tokens":9},"last_token_usage":{"input_tokens":1,"total_tokens":3}}}}`: {9, 3},
		`{"payload": {"info": {"total_token_usage": {"total_tokens": 9}, "last_token_usage" : {"total_tokens": 3}}}}`:                                                {9, 3},
		`{"payload":{"info":{"last_token_usage":{"total_tokens":3},"\u0074otal_token_usage":{"total_tokens":9}}}}`:                                                   {9, 3},
		`{"payload":{"type":"token_count","info":null,"rate_limits":{}}}`:                                                                                            {0, 0},
		`{"payload":{"info":{"total_token_usage":null,"last_token_usage":{"total_tokens":3}}}}`:                                                                      {0, 3},
	} {
		if total, took := Tokens(&session.Record{Raw: []byte(raw)}); total != want[0] || took != want[1] {
			t.Errorf("%s: %d and %d, want %v", raw, total, took, want)
		}
	}
}
