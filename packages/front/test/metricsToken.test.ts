/** The token of whoever reads the metrics is compared in constant time, whatever is sent in its place. */
import { createFront } from "@reprise/front";
import fastify from "fastify";
import { beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { fakeRuntime } from "./support/fakeRuntime.ts";

const compared = vi.hoisted(() => ({ lengths: [] as (readonly [number, number])[] }));
vi.mock("node:crypto", async (importOriginal) => {
  const real = await importOriginal<typeof import("node:crypto")>();
  const timingSafeEqual: typeof real.timingSafeEqual = (left, right) => {
    compared.lengths.push([left.byteLength, right.byteLength]);
    return real.timingSafeEqual(left, right);
  };
  return { ...real, timingSafeEqual };
});

beforeEach(() => {
  compared.lengths = [];
});

const tokens = ["the token of the metrics, of today", "the token of the metrics, of yesterday"];

// promise P5.30
test.each([
  ["the first token", tokens[0], 200],
  ["the second", tokens[1], 200],
  ["one whose first letter differs", `X${tokens[0]?.slice(1)}`, 401],
  ["one whose last letter differs", `${tokens[0]?.slice(0, -1)}X`, 401],
  ["a beginning", tokens[0]?.slice(0, 5), 401],
  ["one letter", "t", 401],
  ["ten thousand letters", "t".repeat(10_000), 401],
])("%s is compared with every token over the same length", async (_what, token, status) => {
  const app = fastify();
  const runtime = fakeRuntime();
  app.register(createFront({ runtime, metricsToken: tokens.map(spaceless) }));
  onTestFinished(() => app.close());
  const headers = { host: "localhost", authorization: `Bearer ${spaceless(token ?? "")}` };
  expect((await app.inject({ url: "/metrics", headers })).statusCode).toBe(status);
  expect(compared.lengths).toEqual([
    [32, 32],
    [32, 32],
  ]);
});

/** As it can stand in the header. */
function spaceless(token: string): string {
  return token.replaceAll(/[ ,]+/g, "-");
}
