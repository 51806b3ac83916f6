package clienttest

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
)

// MCPVar names the environment variable that makes a program of this package the MCP server of its own clients.
const MCPVar = "HIST_CLIENTTEST_MCP"

// MCPServer is the name under which clients know that server, and MCPTool its one tool: it answers {"text": T} with
// [MCPWords] and T.
const (
	MCPServer = "demo"
	MCPTool   = "echo"
	MCPWords  = "the server says "
)

// Pixel is a PNG of one pixel, as a data URL. The tool above sends it too, if it is asked with {"image": true}.
const Pixel = "data:image/png;base64," + pixel

const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGNgYPgPAAEDAQAIicLsAAAAAElFTkSuQmCC"

// MCP lets the clients of this home call the tool of a stand-in for an MCP server, which is the running program,
// started anew with [MCPVar] set: its main function, or TestMain, must call [MCPMain] first.
func (h *Home) MCP() error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	h.Config = append(h.Config, fmt.Sprintf("mcp_servers.%s.command=%q", MCPServer, self),
		fmt.Sprintf("mcp_servers.%s.env={%s=\"1\"}", MCPServer, MCPVar))
	return nil
}

// MCPMain serves MCP on stdin and stdout, and exits, if the program was started for that.
func MCPMain() {
	if os.Getenv(MCPVar) == "" {
		return
	}
	if err := serveMCP(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// serveMCP answers one JSON-RPC message a line, until the input ends.
func serveMCP(in io.Reader, out io.Writer) error {
	type object = map[string]any
	enc := json.NewEncoder(out)
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		var m struct {
			ID     json.RawMessage
			Method string
			Params struct {
				ProtocolVersion string
				Arguments       struct {
					Text  string
					Image bool
				}
			}
		}
		if err := json.Unmarshal(lines.Bytes(), &m); err != nil {
			return err
		}
		if m.ID == nil {
			continue // a notification
		}
		answer := object{"jsonrpc": "2.0", "id": m.ID}
		switch m.Method {
		case "initialize":
			answer["result"] = object{
				"protocolVersion": m.Params.ProtocolVersion, "capabilities": object{"tools": object{}},
				"serverInfo": object{"name": MCPServer, "version": "1"},
			}
		case "tools/list":
			answer["result"] = object{"tools": []object{{
				"name": MCPTool, "description": "Says a text again.",
				"inputSchema": object{"type": "object", "properties": object{
					"text": object{"type": "string"}, "image": object{"type": "boolean"},
				}, "required": []string{"text"}},
				"annotations": object{"readOnlyHint": true},
			}}}
		case "tools/call":
			content := []object{{"type": "text", "text": MCPWords + m.Params.Arguments.Text}}
			if m.Params.Arguments.Image {
				content = append(content, object{"type": "image", "data": pixel, "mimeType": "image/png"})
			}
			answer["result"] = object{"content": content}
		case "ping":
			answer["result"] = object{}
		default:
			answer["error"] = object{"code": -32601, "message": "no method " + m.Method}
		}
		if err := enc.Encode(answer); err != nil {
			return err
		}
	}
	return lines.Err()
}
