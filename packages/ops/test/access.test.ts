/**
 * Who gets in, what a stranger learns, and what a viewer can't do.
 */
import { describe, expect, onTestFinished, test } from "vitest";
import { cookieOf, openDashboard, visitorOf } from "./support/dashboard.ts";
import { recordOf } from "./support/runs.ts";

const html = { accept: "text/html" };

describe("a stranger", () => {
  test("gets one answer for every page, whether there is such a page or not", async () => {
    const { app } = await openDashboard();
    const replies = await Promise.all(
      ["/ops/", "/ops/runs", "/ops/runs/r-1", "/ops/no/such/page", "/ops/board/"].map((url) =>
        app.inject({ url, headers: html }),
      ),
    );
    expect(replies.map(({ statusCode }) => statusCode)).toEqual([303, 303, 303, 303, 303]);
    for (const { headers, body } of replies) {
      expect(headers.location).toMatch(/^\/ops\/signin\?to=/);
      expect(body).toBe("");
    }
  });

  test("gets one answer for every call, whether there is such a run or not", async () => {
    const { app, records } = await openDashboard();
    records.set("r-1", recordOf("r-1"));
    const calls = [
      { method: "GET", url: "/ops/api/me" },
      { method: "GET", url: "/ops/api/runs/r-1" },
      { method: "GET", url: "/ops/api/runs/none" },
      { method: "GET", url: "/ops/api/live" },
      { method: "GET", url: "/ops/api/nothing" },
      { method: "POST", url: "/ops/api/runs/r-1/cancel" },
      { method: "POST", url: "/ops/api/runs/r-1/reveal" },
      { method: "DELETE", url: "/ops/api/runs/r-1" },
    ] as const;
    const replies = await Promise.all(calls.map((call) => app.inject(call)));
    expect(new Set(replies.map(({ statusCode }) => statusCode))).toEqual(new Set([401]));
    expect(new Set(replies.map(({ body }) => body)).size).toBe(1);
  });

  test("with a made-up or emptied cookie is one as well", async () => {
    const { app } = await openDashboard();
    for (const cookie of ["reprise_ops_session_80=made-up", "reprise_ops_session_80=", "=;=;;"]) {
      const reply = await app.inject({ url: "/ops/api/me", headers: { cookie } });
      expect(reply.statusCode).toBe(401);
    }
  });

  test("of another Host is refused, so that no page of another name reads this one", async () => {
    const { app } = await openDashboard({ allowedHosts: ["ops.example.com"] });
    const statusOf = async (host: string): Promise<number> =>
      (await app.inject({ url: "/ops/signin", headers: { host } })).statusCode;
    expect(await statusOf("evil.example")).toBe(403);
    expect(await statusOf("127.0.0.1.evil.example:3000")).toBe(403);
    expect(await statusOf("ops.example.com")).toBe(200);
    expect(await statusOf("127.0.0.1:3000")).toBe(200);
  });
});

describe("a link", () => {
  test("lets its first user in with a cookie that no script reads and no other site sends", async () => {
    const { app, printed } = await openDashboard();
    await app.inject({ url: "/ops/begin" });
    const reply = await app.inject({ url: `/ops/${printed[0]}` });
    expect(reply.statusCode).toBe(200);
    expect(reply.cookies.find(({ value }) => value !== "")).toMatchObject({
      httpOnly: true,
      sameSite: "Strict",
      path: "/ops",
    });
    const again = await app.inject({ url: `/ops/${printed[0]}` });
    expect(again.statusCode).toBe(403);
    expect(cookieOf(again)).toBe("");
  });

  test("is worth nothing after ten minutes, and when a newer one was made", async () => {
    const { app, clock, printed } = await openDashboard();
    await app.inject({ url: "/ops/begin" });
    clock.advance(10 * 60_000);
    expect((await app.inject({ url: `/ops/${printed[0]}` })).statusCode).toBe(403);
    await app.inject({ url: "/ops/begin" });
    clock.advance(10_000);
    await app.inject({ url: "/ops/begin" });
    expect(printed).toHaveLength(3);
    expect((await app.inject({ url: `/ops/${printed[1]}` })).statusCode).toBe(403);
    expect((await app.inject({ url: `/ops/${printed[2]}` })).statusCode).toBe(200);
  });

  test("is not printed more than once in ten seconds, however often it is asked for", async () => {
    const { app, printed } = await openDashboard();
    for (let at = 0; at < 20; at += 1) await app.inject({ url: "/ops/begin" });
    expect(printed).toHaveLength(1);
  });

  test("leads nowhere but into the dashboard", async () => {
    const { app } = await openDashboard();
    for (const to of [
      "https://evil.example/",
      "//evil.example",
      "/ops//evil.example",
      "javascript:1",
      "/other",
    ]) {
      const page = await app.inject({ url: `/ops/signin?to=${encodeURIComponent(to)}` });
      expect(page.body).toContain('name="to" value="/ops/"');
    }
    const own = await app.inject({ url: `/ops/signin?to=${encodeURIComponent("/ops/runs/r-1")}` });
    expect(own.body).toContain('name="to" value="/ops/runs/r-1"');
  });
});

describe("a session", () => {
  test("ends when its person signs out, and the cookie is worth nothing then", async () => {
    const { app, signIn } = await openDashboard();
    const visitor = await signIn();
    expect((await visitor.post("signout")).statusCode).toBe(200);
    expect(await visitorStatus(app, visitor.cookie)).toBe(401);
  });

  test("ends after an hour without use, and after eight in any case", async () => {
    const { app, clock, signIn } = await openDashboard();
    const idle = await signIn();
    clock.advance(60 * 60_000);
    expect(await visitorStatus(app, idle.cookie)).toBe(401);
    const busy = await signIn();
    for (let at = 0; at < 15; at += 1) {
      clock.advance(30 * 60_000);
      expect(await visitorStatus(app, busy.cookie)).toBe(200);
    }
    clock.advance(30 * 60_000);
    expect(await visitorStatus(app, busy.cookie)).toBe(401);
  });
});

describe("an action", () => {
  test("is not done for a viewer, whatever it is", async () => {
    const { records, told, viewer, history } = await openDashboard({
      queues: noQueues,
      keys: noKeys,
      workers: { drain: async () => undefined },
    });
    records.set("r-1", recordOf("r-1"));
    const visitor = await viewer();
    const paths = [
      ...[
        "runs/r-1/cancel",
        "runs/r-1/retry",
        "runs/r-1/finish",
        "runs/r-1/release",
        "runs/r-1/reveal",
      ],
      ...[
        "cancel-many",
        "queues/q/pause",
        "queues/q/resume",
        "queues/q/resize",
        "instances/i/drain",
      ],
      ...["keys/rotate", "keys/k/revoke"],
    ];
    for (const path of paths) {
      const reply = await visitor.post(path);
      expect([path, reply.statusCode]).toEqual([path, 403]);
      expect(reply.json()).toMatchObject({ error: { code: "OPS_FORBIDDEN" } });
    }
    expect(told).toEqual([]);
    expect(await history.audits(10)).toEqual([]);
  });

  test("is not done without the session's own token, or when a browser says that another page asks", async () => {
    const { records, told, signIn, app } = await openDashboard();
    records.set("r-1", recordOf("r-1"));
    const visitor = await signIn();
    const other = await signIn();
    const tries = [
      { "x-reprise-csrf": "" },
      { "x-reprise-csrf": other.csrf },
      { origin: "https://evil.example" },
      { origin: "null" },
      { "sec-fetch-site": "cross-site" },
      { "sec-fetch-site": "same-site" },
    ];
    for (const headers of tries) {
      const reply = await visitor.post("runs/r-1/cancel", {}, headers);
      expect(reply.statusCode, JSON.stringify(headers)).toBe(403);
    }
    const form = await visitor.post("runs/r-1/cancel", "reason=x", {
      "content-type": "application/x-www-form-urlencoded",
    });
    expect(form.statusCode).toBe(415);
    expect(told).toEqual([]);
    const own = await visitor.post(
      "runs/r-1/cancel",
      {},
      { origin: "http://localhost:80", "sec-fetch-site": "same-origin" },
    );
    expect(own.statusCode).toBe(200);
    expect(told).toEqual(["cancel r-1"]);
    expect((await visitorOf(app, other.cookie)).csrf).toBe(other.csrf);
  });
});

describe("every response", () => {
  test("forbids scripts and frames of others, and storing", async () => {
    const { app, signIn } = await openDashboard();
    const { cookie } = await signIn();
    for (const url of [
      "/ops/",
      "/ops/signin",
      "/ops/api/me",
      "/ops/api/none",
      "/ops/assets/pages.css",
    ]) {
      const { headers } = await app.inject({ url, headers: { cookie } });
      const policy = String(headers["content-security-policy"]);
      expect(policy).toContain("default-src 'none'");
      expect(policy).toContain("script-src 'self';");
      expect(policy).toContain("frame-ancestors 'none'");
      expect(policy).not.toMatch(/unsafe|https?:/);
      expect(headers).toMatchObject({
        "cache-control": "no-store",
        "x-frame-options": "DENY",
        "referrer-policy": "no-referrer",
        "x-content-type-options": "nosniff",
      });
    }
  });

  test("holds no inline script and no address of another host", async () => {
    const { app, signIn } = await openDashboard();
    const { cookie } = await signIn();
    for (const url of ["/ops/", "/ops/signin"]) {
      const { body } = await app.inject({ url, headers: { cookie } });
      expect(body).not.toMatch(/<script(?![^>]*\ssrc=)/);
      expect(body).not.toMatch(/https?:\/\//);
      expect(body).not.toMatch(/ on\w+=| style=/);
    }
  });
});

test("a dashboard with one-time links refuses everything on an address that others reach", async () => {
  const { app } = await openDashboard();
  await app.listen({ host: "0.0.0.0", port: 0 });
  onTestFinished(() => app.close());
  const address = app.addresses()[0];
  const reply = await fetch(
    `http://127.0.0.1:${typeof address === "object" ? address.port : 0}/ops/signin`,
  );
  expect(reply.status).toBe(403);
});

async function visitorStatus(
  app: Parameters<typeof visitorOf>[0],
  cookie: string,
): Promise<number> {
  return (await app.inject({ url: "/ops/api/me", headers: { cookie } })).statusCode;
}

const never = async (): Promise<never> => {
  throw new Error("nobody may get here");
};
const noKeys = { list: never, rotate: never, revoke: never };
const noQueues = {
  queues: ["q"],
  standing: never,
  pause: never,
  resume: never,
  resize: never,
  raw: () => [],
};
