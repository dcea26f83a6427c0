/** The page's program: reads where the server is, and shows the host. A composition root. */
import "./noEval.ts";
import { render } from "preact";
import { App } from "./app.tsx";
import { type CallStorage, KeptCalls } from "./keptCalls.ts";
import { HostSession } from "./session.ts";

const root = document.getElementById("host");
if (root === null) throw new Error("the page has no place for the host");

try {
  const session = new HostSession({
    mcpUrl: await mcpUrl(),
    fetch: async (input, init) => await fetch(input, init),
    kept: new KeptCalls(storage()),
  });
  render(<App session={session} />, root);
  await session.open();
} catch (error) {
  render(<p class="problem">{`This page can't start: ${String(error)} Load it again.`}</p>, root);
}

async function mcpUrl(): Promise<string> {
  const response = await fetch("settings.json");
  if (!response.ok) throw new Error(`settings.json: HTTP ${response.status}.`);
  const settings: unknown = await response.json();
  if (typeof settings === "object" && settings !== null && "mcpUrl" in settings) {
    return String(settings.mcpUrl);
  }
  throw new Error("settings.json names no server.");
}

/** Undefined where the browser lets pages keep nothing: reading the property throws there. */
function storage(): CallStorage | undefined {
  try {
    return window.localStorage;
  } catch {
    return undefined;
  }
}
