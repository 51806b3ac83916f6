package clienttest

import "testing"

// TestPossibleInput: of a call all that it was given must stand in a file, however deep.
func TestPossibleInput(t *testing.T) {
	for file, want := range map[string]bool{
		`{"id":"toolu_1","input":{"todos":[{"content":"first","done":true}],"limit":3}}`:  true,
		`{"id":"toolu_1","input":{"todos":[{"content":"second","done":true}],"limit":3}}`: false,
		`{"id":"toolu_1","input":{"todos":[{"content":"first","done":true}],"limit":4}}`:  false,
		`{"id":"toolu_1"}`: false,
	} {
		item := `call toolu_1 TodoWrite {"limit":3,"todos":[{"content":"first","done":true}]}`
		if got := len(Possible([]byte(file), []string{item})) == 1; got != want {
			t.Errorf("%s: %v", file, got)
		}
	}
}
