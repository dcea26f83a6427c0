/**
 * What a user does with the tarball, for the tests of it: install it in an empty folder outside the
 * checkout, start its command there, call a tool over plain HTTP. Nothing here imports Reprise: what is
 * under test is the installed package alone.
 */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { commandPath, plainEnvironment } from "./config.ts";
import { root } from "./sourceTree.ts";

/** A new folder outside the checkout. */
export function newFolder(purpose: string): string {
  return mkdtempSync(path.join(tmpdir(), `reprise-${purpose}-`));
}

/** Runs a command to its end and gives its output; a failure carries that output in its message. */
export function run(command: string, args: readonly string[], cwd: string): string {
  const options = { cwd, env: plainEnvironment(), encoding: "utf8", stdio: "pipe" } as const;
  try {
    return execFileSync(command, args, options);
  } catch (error) {
    // The caught error repeats the output several times; what it says is in the message already.
    const { stdout, stderr } = error as { stdout?: string; stderr?: string };
    throw new Error(`${command} ${args.join(" ")} failed\n${stdout ?? ""}${stderr ?? ""}`);
  }
}

/** Packs the checkout and gives the tarball's path. */
export function packTarball(): string {
  return path.join(root, run(process.execPath, ["infra/scripts/pack.mjs"], root).trim());
}

/** Installs packages in `folder` as a careful user does: no package may ask for another Node.js. */
export function install(folder: string, packages: readonly string[]): string {
  const args = ["install", "--engine-strict=true", "--no-audit", "--no-fund", ...packages];
  return run("npm", args, folder);
}

/** The version that the workspace pins for one of its tools. */
export function pinned(tool: string): string {
  const manifest = JSON.parse(readFileSync(path.join(root, "package.json"), "utf8")) as {
    devDependencies: Record<string, string>;
  };
  const version = manifest.devDependencies[tool];
  if (version === undefined) throw new Error(`the workspace pins no ${tool}`);
  return version;
}

/** A running `npx reprise dev`. */
export interface DevServer {
  /** Where it serves MCP. */
  readonly url: string;
  /** Sends SIGTERM to the whole group and waits for the end; gives everything that was printed. */
  stop(): Promise<string>;
}

/** Starts `npx reprise dev FILE` in `folder` with the Node.js of `nodeFolder`, the current one by default. */
export async function startDev(
  folder: string,
  file: string,
  nodeFolder?: string,
): Promise<DevServer> {
  const folders =
    nodeFolder === undefined ? commandPath : `${nodeFolder}${path.delimiter}${commandPath}`;
  // A group of its own: npx starts the command as a grandchild, and both have to end.
  const child = spawn("npx", ["reprise", "dev", file, "--port", "0", "--data", "data"], {
    cwd: folder,
    env: plainEnvironment({ PATH: folders }),
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const printed: string[] = [];
  const exited = once(child, "close");
  const url = await Promise.race([
    urlIn(child, printed),
    exited.then(() => {
      throw new Error(`reprise dev ended before it served\n${printed.join("\n")}`);
    }),
  ]);
  return {
    url,
    async stop() {
      if (child.pid !== undefined) process.kill(-child.pid, "SIGTERM");
      await exited;
      return printed.join("\n");
    },
  };
}

function urlIn(child: ChildProcess, printed: string[]): Promise<string> {
  return new Promise((resolve) => {
    for (const stream of [child.stdout, child.stderr]) {
      if (stream === null) continue;
      createInterface({ input: stream }).on("line", (line) => {
        printed.push(line);
        const found = /http:\/\/127\.0\.0\.1:\d+\/mcp/.exec(line);
        if (found !== null) resolve(found[0]);
      });
    }
  });
}

/** The members of a result that the tests look at. */
export interface CallResult {
  readonly resultType?: string;
  readonly content?: readonly { readonly type: string; readonly text?: string }[];
  readonly inputRequests?: Readonly<Record<string, unknown>>;
  readonly requestState?: string;
}

/** One `tools/call` of revision 2026-07-28, written by hand; `more` adds members to its params. */
export async function callTool(
  url: string,
  name: string,
  args: Readonly<Record<string, unknown>>,
  more: Readonly<Record<string, unknown>> = {},
): Promise<CallResult> {
  const response = await fetch(url, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      "mcp-protocol-version": "2026-07-28",
      "mcp-method": "tools/call",
      "mcp-name": name,
    },
    body: JSON.stringify({
      jsonrpc: "2.0",
      id: crypto.randomUUID(),
      method: "tools/call",
      params: {
        name,
        arguments: args,
        _meta: {
          "io.modelcontextprotocol/protocolVersion": "2026-07-28",
          "io.modelcontextprotocol/clientInfo": { name: "by-hand", version: "1.0.0" },
          "io.modelcontextprotocol/clientCapabilities": { elicitation: { form: {} } },
        },
        ...more,
      },
    }),
  });
  const body = (await response.json()) as { result?: CallResult; error?: unknown };
  if (body.result === undefined) throw new Error(`${response.status} ${JSON.stringify(body)}`);
  return body.result;
}
