// Package servertest holds the tests of the fleet that need programs and schemas of others, and, as a tool of its go.mod,
// the S3 server that the fleet's own tests run against. It is a module of its own, so that nobody else depends on those.
package servertest

import (
	"bytes"
	"encoding/json"
	"os"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/batch"
	batchv1 "k8s.io/api/batch/v1"
	"sigs.k8s.io/yaml"
)

func read(t *testing.T, name string) []byte {
	t.Helper()
	text, err := os.ReadFile("../deploy/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// TestKubernetesJob: the manifest is one that Kubernetes takes, field by field, and its number of shards is said alike
// everywhere.
func TestKubernetesJob(t *testing.T) {
	var job batchv1.Job
	if err := yaml.UnmarshalStrict(read(t, "kubernetes.yaml"), &job); err != nil {
		t.Fatal(err)
	}
	if job.Kind != "Job" || job.APIVersion != batchv1.SchemeGroupVersion.String() || job.Spec.CompletionMode == nil || *job.Spec.CompletionMode != batchv1.IndexedCompletion {
		t.Errorf("no Indexed Job: %+v", job.Spec)
	}
	args := job.Spec.Template.Spec.Containers[0].Args
	if got := args[len(args)-1]; *job.Spec.Completions != 100 || got != "auto/100" {
		t.Errorf("%d completions, shard %s", *job.Spec.Completions, got)
	}
	if job.Spec.BackoffLimitPerIndex != nil && job.Spec.Template.Spec.RestartPolicy != "Never" {
		t.Error("a backoff limit per index wants restartPolicy Never")
	}
}

// TestAWSBatch: definition and submission have only members that the service's client knows.
func TestAWSBatch(t *testing.T) {
	var definition batch.RegisterJobDefinitionInput
	strict(t, "aws-batch-job-definition.json", &definition)
	var submit batch.SubmitJobInput
	strict(t, "aws-batch-submit.json", &submit)
	if *submit.ArrayProperties.Size != 100 || submit.Parameters["shard"] != "auto/100" || *submit.JobDefinition != *definition.JobDefinitionName {
		t.Errorf("the submission does not fit the definition: %+v", submit)
	}
	for name := range submit.Parameters {
		if _, ok := definition.Parameters[name]; !ok {
			t.Errorf("the definition has no parameter %s", name)
		}
	}
}

func strict(t *testing.T, name string, into any) {
	t.Helper()
	dec := json.NewDecoder(bytes.NewReader(read(t, name)))
	dec.DisallowUnknownFields()
	if err := dec.Decode(into); err != nil {
		t.Errorf("%s: %v", name, err)
	}
}
