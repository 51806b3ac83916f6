// Asks hist before a wrapper resumes a thread, and falls back to what the wrapper would do without hist.
//
//   import { beforeResume } from "./resume.mjs";
//   const answer = await beforeResume(threadId);
//   if (answer.retry_same_thread) spawn(answer.resume[0], answer.resume.slice(1), ...);
//
// The answer is that of `hist pre-resume --json`. If hist is missing or its answer can't be read, it is
// { verdict: "resumable", complete: false, ... }: hist must never be the reason that a thread is not resumed.
import { execFile } from "node:child_process";

const fallback = (threadId, reason) => ({
  verdict: "resumable", reason, retry_same_thread: true, next_action: "resume", thread_id: threadId,
  resume: ["codex", "resume", threadId], findings: [], side_effects_unknown: [], related: [], complete: false,
});

/** Asks hist about a thread; errorText is the client's error, if a resume has already failed. */
export function beforeResume(threadId, { errorText = "", repair = true, timeoutMs = 10_000 } = {}) {
  const args = ["pre-resume", "--json", "--timeout", `${timeoutMs}ms`];
  if (repair) args.push("--repair");
  if (errorText) args.push("--error-file", "-");
  args.push("--", threadId);
  return new Promise((resolve) => {
    const child = execFile("hist", args, { timeout: 2 * timeoutMs, maxBuffer: 1 << 20 }, (error, stdout) => {
      try {
        const answer = JSON.parse(stdout);
        if (answer.schema !== "hist.pre-resume/1") throw new Error(`unknown schema ${answer.schema}`);
        resolve(answer);
      } catch (cause) {
        resolve(fallback(threadId, String(error ?? cause)));
      }
    });
    child.stdin?.on("error", () => {}); // it may have ended without reading
    child.stdin?.end(errorText);
  });
}
