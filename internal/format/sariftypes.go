package format

// The parts of SARIF that are written, under the names of its specification.
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool        sarifTool                `json:"tool"`
		Bases       map[string]sarifArtifact `json:"originalUriBaseIds"`
		ColumnKind  string                   `json:"columnKind"`
		Results     []sarifResult            `json:"results"`
		Invocations []sarifInvocation        `json:"invocations"`
	}
	sarifTool struct {
		Driver sarifDriver `json:"driver"`
	}
	sarifDriver struct {
		Name    string      `json:"name"`
		Version string      `json:"version"`
		URL     string      `json:"informationUri"`
		Rules   []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID      string          `json:"id"`
		Short   sarifMessage    `json:"shortDescription"`
		Full    sarifMessage    `json:"fullDescription"`
		Help    sarifMessage    `json:"help"`
		HelpURL string          `json:"helpUri"`
		Default sarifConfig     `json:"defaultConfiguration"`
		Props   sarifProperties `json:"properties"`
	}
	sarifConfig struct {
		Level string `json:"level"`
	}
	sarifMessage struct {
		Text string `json:"text"`
	}
	// sarifProperties is hist's own, except for the tags, which GitHub shows.
	sarifProperties struct {
		Tags   []string `json:"tags,omitempty"`
		Impact string   `json:"impact"`
		Fix    string   `json:"fix,omitempty"`
		Record string   `json:"record,omitempty"`
		Source string   `json:"source,omitempty"`
		Offset *int64   `json:"offset,omitempty"` // of the fault itself, while the region is the whole line
		Count  int64    `json:"count,omitempty"`
	}
	sarifInvocation struct {
		Successful    bool                `json:"executionSuccessful"`
		Notifications []sarifNotification `json:"toolExecutionNotifications,omitempty"`
	}
	sarifNotification struct {
		Level     string          `json:"level"`
		Message   sarifMessage    `json:"message"`
		Locations []sarifLocation `json:"locations"`
	}
	sarifResult struct {
		RuleID    string            `json:"ruleId"`
		RuleIndex int               `json:"ruleIndex"`
		Level     string            `json:"level"`
		Message   sarifMessage      `json:"message"`
		Locations []sarifLocation   `json:"locations"`
		Prints    map[string]string `json:"partialFingerprints"`
		Props     sarifProperties   `json:"properties"`
	}
	sarifLocation struct {
		Physical sarifPhysical `json:"physicalLocation"`
	}
	sarifPhysical struct {
		Artifact sarifArtifact `json:"artifactLocation"`
		Region   *sarifRegion  `json:"region,omitempty"`
	}
	sarifArtifact struct {
		URI         string        `json:"uri,omitempty"`
		Base        string        `json:"uriBaseId,omitempty"`
		Description *sarifMessage `json:"description,omitempty"`
	}
	sarifRegion struct {
		Line   int64  `json:"startLine"`
		Offset *int64 `json:"byteOffset,omitempty"`
		Length int64  `json:"byteLength,omitempty"`
	}
)
