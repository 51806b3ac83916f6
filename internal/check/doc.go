// Package check holds what rules are made of: the Run that carries one session through them, the Checkers that look at
// its records one by one, and what several agents' rules share.
//
// In come logical records; out go findings. A checker reads the facts of its Run, reports through Report, and changes
// another checker's finding through AmendFraming or Withdraw and in no other way. Nothing here knows an agent or reads a
// file.
package check
