// What HAPI 0.17 says to an app-server, for npm has these versions no more: node hapi-0.17.mjs VERSION CODEX THREAD|- PROMPT...
// 0.17.1 holds a thread whose turn ended in systemError for invalid, and begins a new one on the same connection; so it
// does when a thread can't be resumed. 0.17.4 goes on with the thread, and gives up if it can't be resumed.
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
const [version, codex, id, ...prompts] = process.argv.slice(2);
const server = spawn(codex, ["app-server"], { stdio: ["pipe", "pipe", "inherit"] });
const waiting = new Map();
let completed = () => {};
let failed = false;
let next = 1;
createInterface({ input: server.stdout }).on("line", (line) => {
  const message = JSON.parse(line);
  if (message.id !== undefined && !message.method) waiting.get(message.id)?.(message);
  if (message.method === "thread/status/changed" && message.params.status.type === "systemError") failed = true;
  if (message.method === "turn/completed") completed();
});
const say = (message) => server.stdin.write(JSON.stringify(message) + "\n");
const ask = (method, params) =>
  new Promise((resolve) => {
    waiting.set(next, resolve);
    say({ id: next++, method, params });
  });
const options = { cwd: process.cwd(), approvalPolicy: "never", sandbox: "danger-full-access" };
const start = async () => (await ask("thread/start", options)).result.thread.id;
await ask("initialize", { clientInfo: { name: "hapi-codex-client", version }, capabilities: { experimentalApi: true } });
say({ method: "initialized" });
let thread;
if (id === "-") thread = await start();
else {
  const answer = await ask("thread/resume", { threadId: id, ...options });
  if (answer.error) console.error(answer.error.message);
  thread = answer.error ? (version === "0.17.1" ? await start() : undefined) : answer.result.thread.id;
}
for (const text of thread ? prompts : []) {
  if (failed && version === "0.17.1") thread = await start();
  failed = false;
  const done = new Promise((resolve) => (completed = resolve));
  await ask("turn/start", { threadId: thread, input: [{ type: "text", text }] });
  await done;
  await new Promise((resolve) => setTimeout(resolve, 300)); // the status comes about the end of the turn
}
server.stdin.end();
server.on("exit", () => process.exit(0));
