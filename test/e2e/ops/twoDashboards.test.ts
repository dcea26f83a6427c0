/**
 * Two dashboards of one deployment behind a balancer, on Redis: to the browser they are one, whichever of them answers, and also after
 * a restart of both.
 */
import { request as httpRequest } from "node:http";
import { type ServedOps, type Settings, serveOps } from "reprise/roles";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { type RedisServer, startRedis } from "../../support/redisServer.ts";
import { ownSettings } from "./support/deployment.ts";
import { notary } from "./support/notary.ts";

let redis: RedisServer;
beforeAll(async () => {
  redis = await startRedis();
});
afterAll(() => redis.stop());

async function dashboard(settings: Settings): Promise<ServedOps> {
  const ops = await serveOps(notary, settings);
  onTestFinished(() => ops.close());
  return ops;
}

interface Answer {
  readonly status: number;
  readonly cookie: string;
  readonly body: string;
}

/** What a balancer hands on: the browser's own Host, whichever dashboard it chooses. */
function ask(
  { url }: ServedOps,
  path: string,
  headers: Readonly<Record<string, string>> = {},
  method: "GET" | "POST" = "GET",
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const host = "localhost:8443";
    const sent = httpRequest(new URL(path, url), { method, headers: { ...headers, host } });
    sent.on("error", reject);
    sent.on("response", (response) => {
      const cookies = (response.headers["set-cookie"] ?? []).map((each) => each.split(";")[0]);
      const cookie = cookies.filter((each) => each?.endsWith("=") === false).join("; ");
      let body = "";
      response.setEncoding("utf8").on("data", (text: string) => {
        body += text;
      });
      response.on("error", reject);
      response.on("end", () => resolve({ status: response.statusCode ?? 0, cookie, body }));
    });
    sent.end(method === "POST" ? "{}" : undefined);
  });
}

async function signedIn(ops: ServedOps): Promise<string> {
  const { cookie } = await ask(ops, ops.newLink?.() ?? "");
  expect(cookie).not.toBe("");
  return cookie;
}

const statusOf = async (ops: ServedOps, cookie: string): Promise<number> =>
  (await ask(ops, "api/me", { cookie })).status;

test("a sign-in at one dashboard holds at the other, for looks and for actions, until a sign-out at either", async () => {
  const settings = ownSettings(redis);
  const [one, other] = [await dashboard(settings), await dashboard(settings)];
  const cookie = await signedIn(one);
  for (const each of [one, other, one, other]) expect(await statusOf(each, cookie)).toBe(200);
  const { csrf } = JSON.parse((await ask(one, "api/me", { cookie })).body) as { csrf: string };
  const acting = { cookie, "x-reprise-csrf": csrf, "content-type": "application/json" };
  expect((await ask(other, "api/queues/default/pause", acting, "POST")).status).toBe(200);
  const queues = await ask(one, "api/queues", { cookie });
  expect(JSON.parse(queues.body)).toMatchObject({ queues: [{ paused: true }] });
  expect((await ask(other, "api/signout", acting, "POST")).status).toBe(200);
  for (const each of [one, other]) expect(await statusOf(each, cookie)).toBe(401);
});

test("a restart of all dashboards signs nobody out", async () => {
  const settings = ownSettings(redis);
  const before = await dashboard(settings);
  const cookie = await signedIn(before);
  await before.close();
  expect(await statusOf(await dashboard(settings), cookie)).toBe(200);
});

test("a cookie of another deployment on the same Redis is nobody's", async () => {
  const [ours, theirs] = [await dashboard(ownSettings(redis)), await dashboard(ownSettings(redis))];
  const cookie = await signedIn(theirs);
  expect(await statusOf(theirs, cookie)).toBe(200);
  expect(await statusOf(ours, cookie)).toBe(401);
});

test("a page whose store is away gets 503, and is signed in when it is back", async () => {
  const own = await startRedis({ appendonly: true, appendfsync: "always" });
  onTestFinished(() => own.stop());
  const ops = await dashboard(ownSettings(own));
  const cookie = await signedIn(ops);
  await own.kill();
  const page = await ask(ops, "runs", { cookie, accept: "text/html" });
  expect([page.status, page.body.includes("can't be reached")]).toEqual([503, true]);
  expect((await ask(ops, "api/me", { cookie })).status).toBe(503);
  await own.restart();
  await expect.poll(() => statusOf(ops, cookie), { timeout: 30_000 }).toBe(200);
});
