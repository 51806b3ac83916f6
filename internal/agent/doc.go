// Package agent says what hist must know of an agent to read, judge and mend its sessions.
//
// An agent is one folder below this one that implements Agent; package all lists them. Everything outside of those
// folders knows agents through these interfaces only. What not every agent has, it implements as one of the small
// interfaces beside Agent, which are found by assertion. docs/dev/new-agent.md goes through them one by one.
package agent
