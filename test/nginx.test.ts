/**
 * nginx with the rules of infra/nginx/proxy.conf, before servers that a test can look into: what a proxy must do for
 * Reprise, and what it must never do.
 */
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { nginxConf } from "./support/cluster/nginxConf.ts";
import { unusedPorts } from "./support/cluster/ports.ts";
import { root, textOf } from "./support/sourceTree.ts";

type Answer = (request: IncomingMessage, response: ServerResponse, front: number) => void;

const folder = mkdtempSync(path.join(tmpdir(), "reprise-nginx-"));
const ok: Answer = (_request, response, front) => response.end(String(front));
let answer: Answer = ok;
let received: number[] = [];
let base = "";
const closing: (() => void)[] = [];

beforeAll(async () => {
  const frontPorts = await Promise.all([front(0), front(1)]);
  // The third upstream refuses every connection, as a front that was killed does.
  const [port = 0, dead = 0] = await unusedPorts(2);
  const file = path.join(folder, "nginx.conf");
  writeFileSync(file, nginxConf({ directory: folder, port, frontPorts: [...frontPorts, dead] }));
  const child = spawn("nginx", ["-p", folder, "-c", file], { stdio: ["ignore", "ignore", "pipe"] });
  closing.push(() => child.kill("SIGKILL"));
  const printed = await new Promise<string>((resolve, reject) => {
    let text = "";
    child.stderr.setEncoding("utf8").on("data", (chunk: string) => {
      text += chunk;
      if (text.includes("getrlimit")) resolve(text);
    });
    child.once("close", () => reject(new Error(`nginx ended\n${text}`)));
  });
  expect(printed).not.toMatch(/\[(warn|error|crit|alert|emerg)\]/);
  base = `http://127.0.0.1:${port}`;
});
afterAll(() => {
  for (const close of closing) close();
  rmSync(folder, { recursive: true, force: true });
});
beforeEach(() => {
  answer = ok;
  received = [];
});

async function front(place: number): Promise<number> {
  const server = createServer((incoming, response) => {
    received.push(place);
    answer(incoming, response, place);
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  closing.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

const post = (body = "{}", headers: Readonly<Record<string, string>> = {}): Promise<Response> =>
  fetch(`${base}/mcp`, { method: "POST", body, headers });

describe("nginx before fronts", () => {
  test("sends the requests of one client to one front after another, past one that is gone", async () => {
    const from: string[] = [];
    for (let count = 0; count < 6; count += 1) from.push(await (await post()).text());
    expect(from.filter((each) => each === "0")).toHaveLength(3);
    expect(from.filter((each) => each === "1")).toHaveLength(3);
  });

  test("never sends a request again that a front has read: only the client knows whether it may", async () => {
    answer = (incoming) => incoming.on("data", () => incoming.socket.destroy());
    expect((await post()).status).toBe(502);
    expect(received).toHaveLength(1);
  });

  test("passes the first event on while the call still runs", async () => {
    let finish: () => void = () => undefined;
    answer = (_request, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write("data: 1\n\n");
      finish = () => response.end("data: 2\n\n");
    };
    const { body } = await post();
    const reader = body?.getReader();
    const first = await reader?.read();
    expect(Buffer.from(first?.value ?? []).toString()).toBe("data: 1\n\n");
    finish();
    const second = await reader?.read();
    expect(Buffer.from(second?.value ?? []).toString()).toBe("data: 2\n\n");
  });

  test("hangs up at the front when the client hangs up, so that the call is stopped", async () => {
    let reached: () => void = () => undefined;
    const isReached = new Promise<void>((resolve) => {
      reached = resolve;
    });
    const hungUp = new Promise<void>((resolve) => {
      answer = (_request, response) => {
        response.once("close", () => resolve());
        reached();
      };
    });
    const client = request(`${base}/mcp`, { method: "POST" });
    client.on("error", () => undefined);
    client.end("{}");
    await isReached;
    client.destroy();
    await hungUp;
  });

  test("shows the front the Host that the client used, and who the client is", async () => {
    answer = ({ headers }, response) => response.end(JSON.stringify(headers));
    const seen = (await (await post()).json()) as Record<string, string>;
    expect(seen["host"]).toBe(new URL(base).host);
    expect(seen["x-forwarded-for"]).toBe("127.0.0.1");
    expect(seen["x-forwarded-proto"]).toBe("http");
  });

  test("lets bodies through that the front takes, and those that it refuses itself", async () => {
    answer = (incoming, response) => {
      let bytes = 0;
      incoming.on("data", (chunk: Buffer) => {
        bytes += chunk.length;
      });
      incoming.on("end", () => response.end(String(bytes)));
    };
    const size = 5 * 1024 * 1024;
    expect(await (await post("x".repeat(size))).text()).toBe(String(size));
  });
});

describe("infra/nginx/nginx.conf", () => {
  const text = textOf("infra/nginx/nginx.conf");

  test("is accepted by nginx -t", () => {
    // Names of containers resolve nowhere else, and a test listens on nothing but a socket of its own.
    const own = text
      .replaceAll(/front-\d:300[03]/g, "127.0.0.1:9")
      .replace("listen 3000", `listen unix:${path.join(folder, "t.sock")}`)
      .replace("include proxy.conf", `include ${path.join(root, "infra/nginx/proxy.conf")}`)
      .replace("/var/run/nginx.pid", path.join(folder, "t.pid"));
    const file = path.join(folder, "compose.conf");
    writeFileSync(file, own);
    expect(() =>
      execFileSync("nginx", ["-t", "-q", "-p", folder, "-c", file], { stdio: "pipe" }),
    ).not.toThrow();
  });

  test("differs from what the cluster on this machine uses in addresses alone", () => {
    const rules = (conf: string): readonly string[] =>
      [...conf.matchAll(/^\s*(?:server \S+ (.*);|(keepalive\w* .*);)$/gm)].map(
        ([, server, keep]) => server ?? keep ?? "",
      );
    const cluster = nginxConf({
      directory: folder,
      port: 1,
      frontPorts: [1, 2],
      pagePorts: [3, 4],
    });
    expect(rules(text)).toEqual(rules(cluster));
  });
});
