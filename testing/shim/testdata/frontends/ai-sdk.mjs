// A conversation by ai-sdk-provider-codex-cli over an app-server: node ai-sdk.mjs MODULES CODEX THREAD|- PROMPT...
import { pathToFileURL } from "node:url";
const [modules, codexPath, id, ...prompts] = process.argv.slice(2);
const { createCodexAppServer } = await import(pathToFileURL(`${modules}/ai-sdk-provider-codex-cli/dist/index.js`));
const provider = createCodexAppServer({ defaultSettings: { codexPath, cwd: process.cwd(), threadMode: "persistent" } });
let threadId = id === "-" ? undefined : id;
for (const text of prompts) {
  try {
    const result = await provider("gpt-5.1-codex").doGenerate({
      prompt: [{ role: "user", content: [{ type: "text", text }] }],
      providerOptions: threadId ? { "codex-app-server": { threadId } } : undefined,
    });
    threadId = result.providerMetadata?.["codex-app-server"]?.threadId ?? threadId;
  } catch (error) {
    console.error(String(error));
  }
}
console.log(threadId);
await provider.close();
process.exit(0);
