package lint

var (
	ruleCorruptZst = &Rule{
		Name: "corrupt-zst", Family: "store", Impact: Blocks, Fix: Recovered, Always: true,
		Title: "a compressed session whose stream breaks off or does not decode",
		Text:  `The client decodes a compressed session whole or not at all. Repair keeps what decodes up to the break; a line that is cut there is mended like any torn one.`,
	}
	storeRules = []*Rule{ruleCorruptZst}
)
