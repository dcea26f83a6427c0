/** One JSON object or an event stream, and when it is decided. Time is fake; the front's own timers are the clock. */
import { RepriseError } from "@reprise/errors";
import { metaKeys } from "@reprise/protocol";
import type { RunReply, RunRequest } from "@reprise/runtime";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { fakeRuntime, textReply } from "./support/fakeRuntime.ts";
import { type Client, type McpRequest, serve } from "./support/requests.ts";

const watched: McpRequest = {
  method: "tools/call",
  params: { name: "greet" },
  meta: { progressToken: "p-1", [metaKeys.logLevel]: "debug" },
};
const missingCapability: RunReply = {
  kind: "error",
  error: new RepriseError("MISSING_CAPABILITY", "x", {
    data: { requiredCapabilities: { sampling: {} } },
  }),
};

interface Running {
  readonly answer: ReturnType<Client["call"]>;
  readonly request: RunRequest;
  readonly reply: (reply: RunReply) => void;
}

/** Starts a call whose reply the test gives later. */
async function start(call: McpRequest = watched): Promise<Running> {
  let started: (request: RunRequest) => void;
  let reply: (reply: RunReply) => void = () => {};
  const entered = new Promise<RunRequest>((resolve) => {
    started = resolve;
  });
  const runtime = fakeRuntime({
    execute: (request) => {
      started(request);
      return new Promise<RunReply>((resolve) => {
        reply = resolve;
      });
    },
  });
  const answer = serve({ runtime }).call(call);
  return { answer, request: await entered, reply: (value) => reply(value) };
}

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
});
afterEach(() => {
  vi.useRealTimers();
});

describe("the form of a response", () => {
  test("without a notification it is JSON, although the request opted in", async () => {
    const { answer, reply } = await start();
    reply(textReply("done"));
    expect((await answer).headers["content-type"]).toBe("application/json; charset=utf-8");
  });

  test("notifications go first, in their order, on a stream that proxies do not hold back", async () => {
    const { answer, request, reply } = await start();
    request.notifications?.progress?.(1, 2, "half");
    request.notifications?.log?.("info", { a: 1 }, "shop");
    request.notifications?.progress?.(2, 2, undefined);
    reply(textReply("done"));
    const { headers, messages, status } = await answer;
    expect(status).toBe(200);
    expect(headers).toMatchObject({
      "content-type": "text/event-stream",
      "cache-control": "no-cache",
      "x-accel-buffering": "no",
    });
    expect(messages).toMatchObject([
      {
        method: "notifications/progress",
        params: { progressToken: "p-1", progress: 1, total: 2, message: "half" },
      },
      {
        method: "notifications/message",
        params: { level: "info", data: { a: 1 }, logger: "shop" },
      },
      { method: "notifications/progress", params: { progressToken: "p-1", progress: 2, total: 2 } },
      { id: 1, result: { content: [{ text: "done" }], resultType: "complete" } },
    ]);
  });

  test("a page of an allowed origin may read a stream too", async () => {
    const { answer, request, reply } = await start({
      ...watched,
      headers: { origin: "http://localhost:1" },
    });
    request.notifications?.progress?.(1, undefined, undefined);
    reply(textReply("done"));
    expect((await answer).headers["access-control-allow-origin"]).toBe("http://localhost:1");
  });

  test("a capability error before the first ask was checked keeps its status, notifications are dropped", async () => {
    const { answer, request, reply } = await start();
    request.notifications?.progress?.(1, undefined, undefined);
    reply(missingCapability);
    const { status, messages } = await answer;
    expect(status).toBe(400);
    expect(messages).toMatchObject([{ id: 1, error: { code: -32021 } }]);
  });

  test("after the first ask was checked the stream is open, and the same error is its response", async () => {
    const { answer, request, reply } = await start();
    request.notifications?.progress?.(1, undefined, undefined);
    request.notifications?.asksChecked?.();
    reply(missingCapability);
    const { status, messages } = await answer;
    expect(status).toBe(200);
    expect(messages).toMatchObject([
      { method: "notifications/progress" },
      { id: 1, error: { code: -32021, data: { requiredCapabilities: { sampling: {} } } } },
    ]);
  });

  test("a checked ask alone opens nothing: there is nothing to send", async () => {
    const { answer, request, reply } = await start();
    request.notifications?.asksChecked?.();
    reply(missingCapability);
    expect((await answer).status).toBe(400);
  });

  test("notifications are held for a second at most, counted from the call", async () => {
    const { answer, request, reply } = await start();
    vi.advanceTimersByTime(600);
    request.notifications?.progress?.(1, undefined, undefined);
    vi.advanceTimersByTime(399);
    vi.advanceTimersByTime(1);
    reply(missingCapability);
    expect((await answer).status).toBe(200);
  });

  test("a millisecond less than that, the status is still open", async () => {
    const { answer, request, reply } = await start();
    vi.advanceTimersByTime(600);
    request.notifications?.progress?.(1, undefined, undefined);
    vi.advanceTimersByTime(399);
    reply(missingCapability);
    expect((await answer).status).toBe(400);
  });

  test("what comes after the response is not sent", async () => {
    const { answer, request, reply } = await start();
    reply(textReply("done"));
    await answer;
    expect(() => request.notifications?.progress?.(1, undefined, undefined)).not.toThrow();
    expect(vi.getTimerCount()).toBe(0);
  });
});

describe("heartbeats", () => {
  const progressOf = (messages: readonly object[]): number[] =>
    messages.flatMap((message) => {
      const { params } = message as { params?: { progress?: number } };
      return params?.progress === undefined ? [] : [params.progress];
    });

  test("a silent tool with a progress token is heard of every 15 seconds, with growing values", async () => {
    const { answer, reply } = await start();
    vi.advanceTimersByTime(45_000);
    reply(textReply("done"));
    const values = progressOf((await answer).messages);
    expect(values).toHaveLength(3);
    expect(values).toEqual([...new Set(values)].sort((a, b) => a - b));
    expect(values.at(-1)).toBeLessThan(1e-6);
  });

  test("values stay in order when the handler reports between heartbeats", async () => {
    const { answer, request, reply } = await start();
    vi.advanceTimersByTime(30_000);
    request.notifications?.progress?.(0, 10, "starting");
    vi.advanceTimersByTime(30_000);
    request.notifications?.progress?.(10, 10, undefined);
    vi.advanceTimersByTime(15_000);
    reply(textReply("done"));
    const { messages } = await answer;
    const values = progressOf(messages);
    expect(values).toHaveLength(7);
    for (const [index, value] of values.entries()) {
      expect(value).toBeGreaterThan(values[index - 1] ?? -1);
    }
    expect(messages).toContainEqual(
      expect.objectContaining({ params: expect.objectContaining({ message: "starting" }) }),
    );
  });

  test("a report puts the next heartbeat off", async () => {
    const { answer, request, reply } = await start();
    request.notifications?.asksChecked?.();
    vi.advanceTimersByTime(14_000);
    request.notifications?.progress?.(1, undefined, undefined);
    vi.advanceTimersByTime(14_000);
    reply(textReply("done"));
    expect(progressOf((await answer).messages)).toEqual([1]);
  });

  test("a stream of logs only gets comments, which are no messages", async () => {
    const { answer, request, reply } = await start({
      ...watched,
      meta: { [metaKeys.logLevel]: "debug" },
    });
    request.notifications?.asksChecked?.();
    request.notifications?.log?.("info", "one", undefined);
    vi.advanceTimersByTime(15_000);
    reply(textReply("done"));
    const { text, messages } = await answer;
    expect(text).toContain("\n\n:\n\n");
    expect(messages).toHaveLength(2);
  });

  test("a request that opted in to nothing stays JSON however long it takes", async () => {
    const { answer, reply } = await start({ ...watched, meta: {} });
    vi.advanceTimersByTime(600_000);
    reply(textReply("done"));
    expect((await answer).messages).toHaveLength(1);
  });
});
