package socket

// Main does nothing on Windows: the shim stays there, and looks at command lines only.
func Main([]string) int { return 2 }
