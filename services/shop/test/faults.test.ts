import { expect, test } from "vitest";
import { json, list, outsideWorld, post, refundOf1001 } from "./world.ts";

test("drop cuts the connection after the money moved, and the same key finds the refund", async () => {
  const { url } = await outsideWorld();
  await post(url, "/faults", { kind: "drop", count: 1 });
  await expect(post(url, "/refunds", refundOf1001, "key")).rejects.toThrow();
  expect(await list(url, "/refunds")).toHaveLength(1);
  expect((await post(url, "/refunds", refundOf1001, "key")).status).toBe(201);
  expect(await list(url, "/refunds")).toHaveLength(1);
});

test("drop before the work moves nothing", async () => {
  const { url } = await outsideWorld();
  await post(url, "/faults", { kind: "drop", when: "before", count: 1 });
  await expect(post(url, "/refunds", refundOf1001, "key")).rejects.toThrow();
  expect(await list(url, "/refunds")).toEqual([]);
});

test.each([
  ["before", 502, 0],
  ["after", 504, 1],
] as const)("fail %s the work answers %i and leaves %i refunds", async (when, status, refunds) => {
  const { url } = await outsideWorld();
  await post(url, "/faults", { kind: "fail", when, status, count: 1 });
  expect((await post(url, "/refunds", refundOf1001, "key")).status).toBe(status);
  expect(await list(url, "/refunds")).toHaveLength(refunds);
});

test("none ends every fault", async () => {
  const { url } = await outsideWorld();
  await post(url, "/faults", [{ kind: "outage" }, { kind: "ignoreKeys" }]);
  await post(url, "/faults", { kind: "none" });
  expect(await list(url, "/faults")).toEqual([]);
  expect((await post(url, "/refunds", refundOf1001, "key")).status).toBe(201);
});

test("an outage answers 503, moves nothing, lets one look, and ends when it is cleared", async () => {
  const { url } = await outsideWorld();
  await post(url, "/faults", { kind: "outage" });
  for (let repeated = 0; repeated < 3; repeated += 1) {
    expect((await post(url, "/refunds", refundOf1001, "key")).status).toBe(503);
  }
  expect(await list(url, "/refunds")).toEqual([]);
  await fetch(new URL("/faults", url), { method: "DELETE" });
  expect((await post(url, "/refunds", refundOf1001, "key")).status).toBe(201);
});

test("an outage of GET hits what is read", async () => {
  const { url } = await outsideWorld();
  await post(url, "/faults", { kind: "outage", method: "GET", path: "/orders/", count: 1 });
  expect((await fetch(new URL("/orders/1001", url))).status).toBe(503);
  expect((await fetch(new URL("/orders/1001", url))).status).toBe(200);
});

test("a delay holds the request back until its time is over", async () => {
  const { url } = await outsideWorld();
  await post(url, "/faults", { kind: "delay", ms: 100, count: 1 });
  const began = performance.now();
  expect((await post(url, "/refunds", refundOf1001, "key")).status).toBe(201);
  expect(performance.now() - began).toBeGreaterThan(90);
});

test("with ignoreKeys the same key moves money each time", async () => {
  const { url } = await outsideWorld();
  await post(url, "/faults", { kind: "ignoreKeys" });
  await post(url, "/refunds", refundOf1001, "key");
  await post(url, "/refunds", refundOf1001, "key");
  expect(await list(url, "/refunds")).toHaveLength(2);
});

test("count and path limit what a fault hits", async () => {
  const { url } = await outsideWorld();
  await post(url, "/faults", { kind: "outage", path: "/bookings", count: 2 });
  expect((await post(url, "/refunds", refundOf1001, "key")).status).toBe(201);
  expect((await post(url, "/bookings", {})).status).toBe(503);
  expect((await post(url, "/bookings", {})).status).toBe(503);
  expect((await post(url, "/bookings", {})).status).toBe(400);
  expect(await list(url, "/faults")).toEqual([]);
});

test("several faults hit one request in the order they were added", async () => {
  const { url } = await outsideWorld();
  await post(url, "/faults", [
    { kind: "ignoreKeys", count: 2 },
    { kind: "fail", when: "after", status: 500, count: 1 },
  ]);
  expect((await post(url, "/refunds", refundOf1001, "key")).status).toBe(500);
  expect((await post(url, "/refunds", refundOf1001, "key")).status).toBe(201);
  expect(await list(url, "/refunds")).toHaveLength(2);
});

test("a fault that is none is refused, and the words name the kinds there are", async () => {
  const { url } = await outsideWorld();
  const refused = await post(url, "/faults", { kind: "earthquake" });
  expect(refused.status).toBe(400);
  expect(await json(refused)).toEqual({ error: expect.stringContaining("ignoreKeys") });
});
