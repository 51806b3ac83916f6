// A conversation with codex-acp as an editor has it, by the Agent Client Protocol: node codex-acp.mjs MODULES CODEX-ACP THREAD|- PROMPT...
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
const [, program, id, ...prompts] = process.argv.slice(2);
const agent = spawn(program, [], { stdio: ["pipe", "pipe", "inherit"] });
const pending = new Map();
let last = 0;
const write = (message) => agent.stdin.write(JSON.stringify({ jsonrpc: "2.0", ...message }) + "\n");
const ask = (method, params) =>
  new Promise((resolve, reject) => {
    pending.set(++last, { resolve, reject });
    write({ id: last, method, params });
  });
createInterface({ input: agent.stdout }).on("line", (line) => {
  const message = JSON.parse(line);
  if (message.method && message.id !== undefined) {
    write({ id: message.id, error: { code: -32601, message: "not here" } });
  } else if (pending.has(message.id)) {
    const { resolve, reject } = pending.get(message.id);
    message.error ? reject(new Error(JSON.stringify(message.error))) : resolve(message.result);
  }
});
agent.on("exit", (code) => process.exit(code ?? 1));
const place = { cwd: process.cwd(), mcpServers: [] };
try {
  await ask("initialize", { protocolVersion: 1, clientCapabilities: {}, clientInfo: { name: "editor", version: "1.0" } });
  const sessionId = id === "-" ? (await ask("session/new", place)).sessionId : id;
  if (id !== "-") await ask("session/load", { sessionId, ...place });
  for (const text of prompts) {
    await ask("session/prompt", { sessionId, prompt: [{ type: "text", text }] }).catch((error) => console.error(String(error)));
  }
  console.log(sessionId);
} catch (error) {
  console.error(String(error));
}
agent.kill();
