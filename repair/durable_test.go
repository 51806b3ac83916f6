package repair

import "github.com/hist-cli/hist/internal/failpoint"

func init() { failpoint.Durable = false }
