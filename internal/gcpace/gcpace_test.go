package gcpace

import "testing"

func TestPercent(t *testing.T) {
	for live, want := range map[uint64]int{
		0: 400, 1 << 20: 400, 4 << 20: 400, 8 << 20: 200, 14 << 20: 114, 16 << 20: 100, 32 << 20: 100, 64 << 20: 50, 1 << 40: 10,
	} {
		if got := percent(live); got != want {
			t.Errorf("%d MiB in use: %d %%, want %d", live>>20, got, want)
		}
	}
}
