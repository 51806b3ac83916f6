// A conversation by happy's client of an app-server: node happy.mjs MODULES CODEX THREAD|- PROMPT...
// The whole of happy needs its relay on the internet; its client class stands in one of its modules.
import { readdirSync } from "node:fs";
import { delimiter, dirname } from "node:path";
import { pathToFileURL } from "node:url";
const [modules, codex, id, ...prompts] = process.argv.slice(2);
process.env.PATH = dirname(codex) + delimiter + process.env.PATH; // it starts the codex that is first there
const dist = `${modules}/happy/dist`;
let Client;
for (const name of readdirSync(dist).filter((name) => /^types-.*\.mjs$/.test(name))) {
  const module = await import(pathToFileURL(`${dist}/${name}`));
  Client ??= Object.values(module).find((value) => value?.name === "CodexAppServerClient");
}
const client = new Client();
client.setEventHandler(() => {});
await client.connect();
const options = { cwd: process.cwd(), approvalPolicy: "never", sandbox: "danger-full-access" };
if (id === "-") await client.startThread(options);
else await client.resumeThread({ threadId: id, ...options });
for (const prompt of prompts) {
  try {
    await client.sendTurnAndWait(prompt, options);
  } catch (error) {
    console.error(String(error));
  }
}
await client.disconnect();
process.exit(0);
