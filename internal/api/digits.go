package api

// maxDigitBlocks is how many blocks are looked at in one piece: the scheduler can't stop a goroutine in between.
const maxDigitBlocks = 1 << 12

// hasNonDigit says whether there is a byte that is not a base64 digit.
func hasNonDigit(body []byte) bool {
	for wideDigits && len(body) >= 64 {
		blocks := min(len(body)/64, maxDigitBlocks)
		n := passDigits(&body[0], blocks)
		if body = body[n:]; n < 64*blocks {
			return true
		}
	}
	for len(body) >= 8 {
		b := body[:8]
		if nonDigit[b[0]]|nonDigit[b[1]]|nonDigit[b[2]]|nonDigit[b[3]]|nonDigit[b[4]]|nonDigit[b[5]]|nonDigit[b[6]]|nonDigit[b[7]] != 0 {
			return true
		}
		body = body[8:]
	}
	for _, c := range body {
		if nonDigit[c] != 0 {
			return true
		}
	}
	return false
}

// nonDigit is 1 for every byte that is not a base64 digit.
var nonDigit = func() (s [256]byte) {
	for i := range s {
		s[i] = 1
	}
	for _, c := range "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/" {
		s[c] = 0
	}
	return s
}()
