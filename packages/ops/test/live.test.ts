/**
 * The stream of changes: one look at the store for all pages, told when something has changed, ended with the session.
 */
import type { HistoryStore } from "@reprise/runtime";
import { createMemoryHistory } from "@reprise/testing";
import { expect, onTestFinished, test } from "vitest";
import { type Dashboard, openDashboard } from "./support/dashboard.ts";
import { waitingEvents } from "./support/runs.ts";

interface Stream {
  /** The next pulse; undefined when the stream has ended. */
  next(): Promise<unknown>;
}

async function listen(
  url: string,
  cookie: string,
): Promise<Response & { readonly stream: Stream }> {
  const aborted = new AbortController();
  onTestFinished(() => aborted.abort());
  const response = await fetch(`${url}/ops/api/live`, {
    headers: { cookie },
    signal: aborted.signal,
  });
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let held = "";
  const next = async (): Promise<unknown> => {
    for (;;) {
      const [, data] = /event: pulse\ndata: (.*)\n\n/.exec(held) ?? [];
      if (data !== undefined) {
        held = held.slice(held.indexOf(data) + data.length + 2);
        return JSON.parse(data);
      }
      const part = await reader?.read().catch(() => undefined);
      if (part === undefined || part.done) return undefined;
      held += part.value;
    }
  };
  return Object.assign(response, { stream: { next } });
}

/** Who has signed in over HTTP: the cookie's name holds the port. */
async function cookieAt(url: string, dashboard: Dashboard): Promise<string> {
  const entered = await fetch(`${url}/ops/${dashboard.linkFor("operator")}`);
  return entered.headers
    .getSetCookie()
    .map((line) => line.split(";")[0] ?? "")
    .filter((pair) => !pair.endsWith("="))
    .join("; ");
}

function counted(): { readonly history: HistoryStore; readonly looks: () => number } {
  const kept = createMemoryHistory(() => 1_800_000_000_000);
  let looks = 0;
  return {
    history: {
      ...kept,
      counts: () => {
        looks += 1;
        return kept.counts();
      },
    },
    looks: () => looks,
  };
}

test("twenty pages are told of a change by one look at the store, and of nothing when nothing has changed", async () => {
  const { history, looks } = counted();
  const dashboard = await openDashboard({ history });
  const url = await dashboard.listen();
  const cookie = await cookieAt(url, dashboard);
  const streams = await Promise.all(Array.from({ length: 20 }, () => listen(url, cookie)));
  for (const { stream } of streams) {
    expect(await stream.next()).toMatchObject({ ok: true, counts: { byStatus: {} } });
  }
  expect(looks()).toBe(1);
  await history.record(waitingEvents("r-1", 1_800_000_000_000 - 1000));
  dashboard.clock.advance(2000);
  for (const { stream } of streams) {
    expect(await stream.next()).toMatchObject({
      counts: { byStatus: { waiting: 1 } },
      newest: { runId: "r-1" },
    });
  }
  expect(looks()).toBe(2);
});

test("a store that is away is told as such, and nobody looks when nobody listens", async () => {
  const { history, looks } = counted();
  let isAway = true;
  const counts = async (): ReturnType<HistoryStore["counts"]> => {
    if (isAway) throw new Error("away");
    return await history.counts();
  };
  const dashboard = await openDashboard({ history: { ...history, counts } });
  const url = await dashboard.listen();
  const { stream } = await listen(url, await cookieAt(url, dashboard));
  expect(await stream.next()).toMatchObject({ ok: false });
  isAway = false;
  dashboard.clock.advance(2000);
  expect(await stream.next()).toMatchObject({ ok: true });
  expect(looks()).toBe(1);
});

test("a page whose session has ended hears no more", async () => {
  const { history } = counted();
  const dashboard = await openDashboard({ history });
  const url = await dashboard.listen();
  const cookie = await cookieAt(url, dashboard);
  const { stream } = await listen(url, cookie);
  await stream.next();
  dashboard.clock.advance(60 * 60_000);
  await history.record(waitingEvents("r-1", 1_800_000_000_000 - 1000));
  while ((await stream.next()) !== undefined) dashboard.clock.advance(2000);
  expect((await listen(url, cookie)).status).toBe(401);
});

test("a page whose person signs out hears no more, and the others hear on", async () => {
  const dashboard = await openDashboard();
  const url = await dashboard.listen();
  const [leaving, staying] = [await cookieAt(url, dashboard), await cookieAt(url, dashboard)];
  const [gone, there] = [await listen(url, leaving), await listen(url, staying)];
  await Promise.all([gone.stream.next(), there.stream.next()]);
  const me = (await (
    await fetch(`${url}/ops/api/me`, { headers: { cookie: leaving } })
  ).json()) as { csrf: string };
  const headers = {
    cookie: leaving,
    "x-reprise-csrf": me.csrf,
    "content-type": "application/json",
  };
  await fetch(`${url}/ops/api/signout`, { method: "POST", headers, body: "{}" });
  await dashboard.history.record(waitingEvents("r-1", 1_800_000_000_000 - 1000));
  dashboard.clock.advance(2000);
  expect(await there.stream.next()).toMatchObject({ newest: { runId: "r-1" } });
  expect(await gone.stream.next()).toBeUndefined();
});

test("more pages than there may be are turned away with a code", async () => {
  const dashboard = await openDashboard({ maxViewers: 1 });
  const url = await dashboard.listen();
  const cookie = await cookieAt(url, dashboard);
  expect((await listen(url, cookie)).status).toBe(200);
  const second = await listen(url, cookie);
  expect(second.status).toBe(503);
});
