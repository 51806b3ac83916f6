// A conversation by @openai/codex-sdk, from a list of prompts: node codex-sdk.mjs MODULES CODEX THREAD|- PROMPT...
import { pathToFileURL } from "node:url";
const [modules, codexPathOverride, id, ...prompts] = process.argv.slice(2);
const { Codex } = await import(pathToFileURL(`${modules}/@openai/codex-sdk/dist/index.js`));
const codex = new Codex({ codexPathOverride });
const options = { workingDirectory: process.cwd(), skipGitRepoCheck: true };
const thread = id === "-" ? codex.startThread(options) : codex.resumeThread(id, options);
for (const prompt of prompts) {
  try {
    await thread.run(prompt);
  } catch (error) {
    console.error(String(error));
  }
}
console.log(thread.id);
