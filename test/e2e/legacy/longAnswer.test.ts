/**
 * A person who thinks longer than the proxy waits: nginx with its own timeout and none of our rules for it, before fronts
 * without affinity. The wait is real: what is proved is that the open stream is never silent for so long.
 *
 * A long run takes nginx's default of 60 s and an answer after 75 s, any other run the same in seconds.
 */
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import { ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Child, startCommand } from "../../support/childProcess.ts";
import { type Cluster, startCluster } from "../../support/cluster/cluster.ts";
import { unusedPorts } from "../../support/cluster/ports.ts";
import { longRun } from "../../support/config.ts";
import { textOf } from "../../support/officialClient.ts";

const wait = longRun
  ? { nginx: "", heartbeatMs: 15_000, answerMs: 75_000 }
  : { nginx: "proxy_read_timeout 2s;", heartbeatMs: 500, answerMs: 6_000 };

let dataDir: string;
let cluster: Cluster;
let nginx: Child;
let url: string;

beforeAll(async () => {
  dataDir = await mkdtemp(path.join(tmpdir(), "reprise-long-answer-"));
  cluster = await startCluster({
    dataDir,
    dispatch: "inline",
    settings: { REPRISE_HEARTBEAT_MS: String(wait.heartbeatMs) },
  });
  const [port = 0] = await unusedPorts(1);
  const directory = path.join(dataDir, "plain-nginx");
  await mkdir(directory);
  const conf = path.join(directory, "nginx.conf");
  await writeFile(conf, plainNginx(directory, port));
  nginx = startCommand("nginx", ["-c", conf, "-p", directory]);
  await nginx.line(/start worker process|using the "epoll" event method/);
  url = `http://127.0.0.1:${port}/mcp`;
}, 120_000);

afterAll(async () => {
  await nginx.stop();
  await cluster.stop();
  await rm(dataDir, { recursive: true, force: true });
});

/** What somebody writes who has not read our proxy rules, but for the folders. */
function plainNginx(directory: string, port: number): string {
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"];
  return `daemon off;
master_process off;
error_log stderr notice;
pid ${path.join(directory, "nginx.pid")};
events {}
http {
  access_log off;
${temporary.map((name) => `  ${name}_temp_path ${path.join(directory, name)};`).join("\n")}
  upstream fronts {
${cluster.fronts.map((front) => `    server ${new URL(front.url).host};`).join("\n")}
  }
  server {
    listen 127.0.0.1:${port};
    location / {
      proxy_pass http://fronts;
      proxy_http_version 1.1;
      proxy_set_header Host $http_host;
      ${wait.nginx}
    }
  }
}
`;
}

test("an answer that comes later than the proxy's timeout completes the call, and the effect happens once", async () => {
  const client = new Client(
    { name: "slow-person", version: "1.0.0" },
    { capabilities: { elicitation: { form: {} } } },
  );
  let asked = 0;
  client.setRequestHandler(ElicitRequestSchema, async () => {
    asked += 1;
    await pause(wait.answerMs);
    return { action: "accept", content: { confirm: true } };
  });
  const transport = new StreamableHTTPClientTransport(new URL(url));
  // Its types say that `sessionId` may be undefined, those of Transport that it may be left out.
  await client.connect(transport as Transport);
  const result = await client.callTool(
    { name: "refund_order", arguments: { orderId: "1001" } },
    undefined,
    { timeout: wait.answerMs * 10 },
  );
  await client.close();
  expect(textOf(result as { content: object[] })).toMatch(/^Refunded /);
  expect(asked).toBe(1);
  const refunds = await fetch(new URL("/refunds", cluster.outside));
  expect(await refunds.json()).toHaveLength(1);
});
