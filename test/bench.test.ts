/** The promises of the bench's instruments: its statistics, its reply reader and its load client. */
import { createServer, type RequestListener, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import fc from "fast-check";
import { afterEach, describe, expect, test } from "vitest";
import { type CpuProfile, summarize } from "./bench/cpuProfile.ts";
import { HttpReplyReader } from "./bench/httpReply.ts";
import { type Load, runLoad } from "./bench/loadClient.ts";
import type { OperationSpec } from "./bench/operations.ts";
import { isMet } from "./bench/report.ts";
import { pairedRatio, percentile, spread } from "./bench/stats.ts";
import { seed } from "./support/config.ts";

describe("statistics", () => {
  test("a percentile is the nearest rank of the ascending values", () => {
    const ascending = Array.from({ length: 100 }, (_, index) => index + 1);
    expect(percentile(ascending, 0.5)).toBe(50);
    expect(percentile(ascending, 0.99)).toBe(99);
    expect(percentile(ascending, 1)).toBe(100);
    expect(percentile([7], 0.01)).toBe(7);
    expect(percentile([], 0.5)).toBeNaN();
  });

  test("a percentile of more than all or of nothing is refused by name", () => {
    expect(() => percentile([1], 1.01)).toThrow('"q"');
    expect(() => percentile([1], 0)).toThrow('"q"');
  });

  test("at least the asked share of any values lies at or below their percentile", () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: -1000, max: 1000 }), { minLength: 1 }),
        fc.integer({ min: 1, max: 100 }),
        (values, percent) => {
          const limit = percentile(
            values.toSorted((a, b) => a - b),
            percent / 100,
          );
          const below = values.filter((value) => value <= limit).length;
          return below * 100 >= percent * values.length;
        },
      ),
      { seed },
    );
  });

  test("a spread does not depend on the order, and an even count halves the middle", () => {
    expect(spread([3, 1, 2])).toEqual({ median: 2, min: 1, max: 3 });
    expect(spread([4, 1, 3, 2])).toEqual({ median: 2.5, min: 1, max: 4 });
  });

  test("a paired ratio compares within rounds, so a slow round changes neither side's ratio", () => {
    expect(pairedRatio([10, 1, 10], [20, 2, 20])).toEqual({ median: 0.5, min: 0.5, max: 0.5 });
    expect(() => pairedRatio([1], [1, 2])).toThrow(RangeError);
  });

  test("a target is met by the median alone, and a ratio without one has no verdict", () => {
    const value = { median: 1, min: 0, max: 2 };
    expect(isMet({ name: "a", value, target: { atLeast: 1 } })).toBe(true);
    expect(isMet({ name: "b", value, target: { atLeast: 1.1 } })).toBe(false);
    expect(isMet({ name: "c", value, target: { atMost: 0.9 } })).toBe(false);
    expect(isMet({ name: "d", value })).toBeUndefined();
  });
});

describe("the profile summary", () => {
  const file = "file:///x/packages/front/src/runs.ts";
  const profile: CpuProfile = {
    nodes: [
      { id: 1, callFrame: { functionName: "(root)", url: "", lineNumber: -1 }, children: [2, 5] },
      { id: 2, callFrame: { functionName: "run", url: file, lineNumber: 9 }, children: [3, 4] },
      { id: 3, callFrame: { functionName: "run", url: file, lineNumber: 9 } },
      { id: 4, callFrame: { functionName: "emit", url: "node:events", lineNumber: 1 } },
      { id: 5, callFrame: { functionName: "(idle)", url: "", lineNumber: -1 } },
    ],
    samples: [2, 3, 4, 5, 4],
    timeDeltas: [1000, 1000, 1000, 5000, 1000],
  };

  test("gives shares of the busy time and counts a recursive function once", () => {
    const { busyMs, parts, functions, oursInclusive } = summarize(profile, 0);
    expect(busyMs).toBe(4);
    expect(parts).toEqual([
      { name: "front", share: 0.5 },
      { name: "node", share: 0.5 },
    ]);
    expect(functions).toContainEqual({ name: "run  front/runs.ts:10", share: 0.5 });
    expect(oursInclusive).toEqual([{ name: "run  front/runs.ts:10", share: 1 }]);
  });

  test("leaves out what was sampled while the server warmed up", () => {
    expect(summarize(profile, 2.5).busyMs).toBe(2);
  });
});

describe("the reply reader", () => {
  const sized = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 5\r\n\r\nhéll";
  const chunked =
    "HTTP/1.1 404 Not Found\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\nA\r\n0123456789\r\n0\r\n\r\n";

  test.each([
    ["a length", sized, { status: 200, contentType: "text/plain", body: "héll" }],
    ["chunks", chunked, { status: 404, contentType: "", body: "abc0123456789" }],
  ])("reads a reply with %s however it is cut", (_name, bytes, expected) => {
    const buffer = Buffer.from(bytes, "utf8");
    for (let cut = 1; cut < buffer.length; cut += 1) {
      const reader = new HttpReplyReader();
      expect(reader.push(buffer.subarray(0, cut))).toBeUndefined();
      expect(reader.push(buffer.subarray(cut))).toEqual(expected);
      expect(reader.push(buffer)).toEqual(expected);
    }
  });

  test("refuses bytes behind a reply, a reply without an end, and what is no HTTP", () => {
    expect(() => new HttpReplyReader().push(Buffer.from(`${sized}x`))).toThrow("after the end");
    expect(() => new HttpReplyReader().push(Buffer.from("HTTP/1.1 200 OK\r\n\r\n"))).toThrow(
      "neither length nor chunks",
    );
    const nonsense = Buffer.from("SSH-2.0\r\ncontent-length: 0\r\n\r\n");
    expect(() => new HttpReplyReader().push(nonsense)).toThrow("status line");
  });
});

describe("the load client", () => {
  const servers: Server[] = [];
  const post: OperationSpec = { kind: "post", text: "yes" };
  const confirm: OperationSpec = { kind: "confirm", tool: "t", args: { a: 1 }, text: "done" };

  afterEach(() => {
    for (const server of servers.splice(0)) server.close().closeAllConnections();
  });

  async function serving(listener: RequestListener): Promise<string> {
    const server = createServer(listener);
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
  }

  function load(url: string, operation: OperationSpec, concurrency: number): Load {
    return { url, operation, concurrency, warmUpMs: 20, durationMs: 60 };
  }

  test("keeps exactly as many requests in flight as asked, on as many connections", async () => {
    let most = 0;
    let waiting: ServerResponse[] = [];
    const ports = new Set<number | undefined>();
    const url = await serving((request, response) => {
      ports.add(request.socket.remotePort);
      waiting.push(response);
      most = Math.max(most, waiting.length);
      // Nobody is answered before three wait; from then on everybody at once, so that the load can end.
      if (most < 3) return;
      for (const each of waiting) each.end("yes");
      waiting = [];
    });
    const edges: string[] = [];
    const result = await runLoad(load(url, post, 3), (edge) => edges.push(edge));
    expect(most).toBe(3);
    expect(ports.size).toBe(3);
    expect(result.operations).toBeGreaterThan(0);
    expect(result.p50Ms).toBeLessThanOrEqual(result.p99Ms);
    expect(edges).toEqual(["begin", "end"]);
  });

  test("runs a confirm flow as two rounds under new ids, with the state given and the answer", async () => {
    const rounds: string[] = [];
    const ids = new Set<number>();
    let requests = 0;
    const url = await serving((request, response) => {
      let text = "";
      request.on("data", (chunk: Buffer) => (text += chunk.toString()));
      request.on("end", () => {
        const { id, params } = JSON.parse(text) as { id: number; params: Record<string, unknown> };
        requests += 1;
        ids.add(id);
        const isRetry = "requestState" in params;
        rounds.push(JSON.stringify(params["inputResponses"] ?? null));
        const result = isRetry
          ? { content: [{ type: "text", text: "done" }] }
          : { inputRequests: { sure: {} }, requestState: "sealed" };
        response.setHeader("content-type", "application/json");
        response.end(JSON.stringify({ jsonrpc: "2.0", id, result }));
      });
    });
    await runLoad(load(url, confirm, 1));
    const answer = JSON.stringify({ sure: { action: "accept", content: { confirm: true } } });
    expect(rounds.slice(0, 4)).toEqual(["null", answer, "null", answer]);
    expect(ids.size).toBe(requests);
  });

  test("gives a fresh argument another value in every operation, and the same one to its retry", async () => {
    const keys: (readonly [string, boolean])[] = [];
    const url = await serving((request, response) => {
      let text = "";
      request.on("data", (chunk: Buffer) => (text += chunk.toString()));
      request.on("end", () => {
        const { id, params } = JSON.parse(text) as { id: number; params: Record<string, unknown> };
        const isRetry = "requestState" in params;
        keys.push([(params["arguments"] as { key: string }).key, isRetry]);
        const result = isRetry
          ? { content: [{ type: "text", text: "done" }] }
          : { inputRequests: { sure: {} }, requestState: "sealed" };
        response.setHeader("content-type", "application/json");
        response.end(JSON.stringify({ jsonrpc: "2.0", id, result }));
      });
    });
    const keyed = { ...confirm, args: { other: 1 }, fresh: "key" };
    await runLoad(load(url, keyed, 1));
    await runLoad(load(url, keyed, 1));
    const firsts = keys.filter(([, isRetry]) => !isRetry).map(([key]) => key);
    const retries = keys.filter(([, isRetry]) => isRetry).map(([key]) => key);
    expect(retries).toEqual(firsts);
    expect(new Set(firsts).size).toBe(firsts.length);
    expect(Math.min(...firsts.map((key) => key.length))).toBeGreaterThanOrEqual(32);
  });

  test("posts to where the first reply points, and counts both as one operation", async () => {
    const paths: (string | undefined)[] = [];
    const url = await serving((request, response) => {
      paths.push(request.url);
      response.end(request.url === "/mcp" ? "/answer/7" : "done");
    });
    const result = await runLoad(load(url, { kind: "postTwice", text: "done" }, 1));
    expect(paths.slice(0, 4)).toEqual(["/mcp", "/answer/7", "/mcp", "/answer/7"]);
    expect(result.operations).toBeLessThanOrEqual(paths.length / 2);
  });

  test.each<[string, RequestListener]>([
    ["a refusal", (_request, response) => response.writeHead(503).end("no")],
    ["another body", (_request, response) => response.end("no")],
    ["a broken connection", (request) => request.socket.destroy()],
  ])("%s ends the load with its cause instead of counting it", async (_name, listener) => {
    const url = await serving(listener);
    await expect(runLoad(load(url, post, 2))).rejects.toThrow(
      /unexpected reply|closed the connection|ECONNRESET/,
    );
  });
});
