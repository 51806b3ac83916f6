// Package check holds what rules are made of: the Run that carries one session through them, the Checkers that look at
// its records one by one, and what several agents' rules share.
//
// In come logical records; out go findings. A checker reads the facts of its Run and reports through Report. It changes what
// others have found only through AmendFraming, AmendLine and Withdraw. Nothing here knows an agent or reads a file.
package check
