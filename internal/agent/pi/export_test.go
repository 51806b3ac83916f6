package pi

// Judged is what a version of the client makes of a text: why it refuses it, how much of it the API refuses, and how many records are on the
// chain that is sent.
func Judged(text []byte, version string) (refused string, invalid, chain int) {
	t := traitsOf(version)
	v, _ := viewOf(text, t)
	r := v.read(t)
	if r.round || r.fails > 0 {
		r.refused = "an error"
	}
	return r.refused, r.invalid, len(r.chain)
}
