/** A process of its own that calls or resumes: `call URL TOOL JSON FILE answers...` or `resume FILE answers...`. */
import { runCall, runResume } from "@reprise/client";

const [command, ...rest] = process.argv.slice(2);
const streams = { input: process.stdin, output: process.stdout, dialog: process.stderr };

if (command === "call") {
  const [url = "", tool = "", json = "{}", saveFile = "", ...answers] = rest;
  const args = JSON.parse(json) as Record<string, unknown>;
  process.exitCode = await runCall({ ...streams, url, tool, args, saveFile, answers });
} else {
  const [file = "", ...answers] = rest;
  process.exitCode = await runResume(file, { ...streams, answers });
}
