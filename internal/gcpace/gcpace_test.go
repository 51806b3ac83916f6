package gcpace

import "testing"

func TestPercent(t *testing.T) {
	for live, want := range map[uint64]int{
		1: 400, 1 << 20: 400, 4 << 20: 400, 8 << 20: 200, 14 << 20: 114, 16 << 20: 100, 32 << 20: 100, 64 << 20: 50, 1 << 40: 10,
	} {
		if got := percent(live, false); got != want {
			t.Errorf("%d MiB in use: %d %%, want %d", live>>20, got, want)
		}
	}
	for live, want := range map[uint64]int{1: 400, 8 << 20: 400, 16 << 20: 300, 32 << 20: 150, 64 << 20: 75, 1 << 40: 10} {
		if got := percent(live, true); got != want {
			t.Errorf("%d MiB in use, and no garbage: %d %%, want %d", live>>20, got, want)
		}
	}
}
