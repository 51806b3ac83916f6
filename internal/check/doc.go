// Package check holds what rules are made of: the Run that carries one session through them, the Checkers that look at
// its records one by one, and what several agents' rules share.
//
// In come logical records; out go findings. A checker reads the facts of its Run and says a thing once, when it is known: through Report or,
// if only the end of the session can tell, as a Claim. What it knows of a damaged line is a fact (About). What all that means for the
// findings is settled at the end, by those who know more (Explainer, Settler). Nothing here knows an agent or reads a file.
package check
