/**
 * Signing in at a real OpenID provider: who gets which role, and what a callback that is not one's own is worth.
 */
import { createOidcSignIn, opsPlugin } from "@reprise/ops";
import { createProcessRecords, type RunOperator } from "@reprise/runtime";
import { createManualClock, createMemoryHistory, type ManualClock } from "@reprise/testing";
import fastify, { type FastifyInstance, type LightMyRequestResponse } from "fastify";
import { describe, expect, onTestFinished, test } from "vitest";
import { cookieOf } from "./support/dashboard.ts";
import { startProvider, type TestProvider } from "./support/provider.ts";

const publicUrl = "http://127.0.0.1:9/ops";

/** A provider, and the dashboard; `apps` of one deployment. */
async function open(rolesClaim?: string): Promise<{
  readonly app: FastifyInstance;
  readonly other: FastifyInstance;
  readonly provider: TestProvider;
  readonly clock: ManualClock;
}> {
  const clock = createManualClock(Date.now());
  const records = createProcessRecords(clock.now);
  const provider = await startProvider(`${publicUrl}/enter`, {
    mia: ["sales", "operator"],
    val: ["viewer"],
    joe: ["sales"],
  });
  const dashboard = async (): Promise<FastifyInstance> => {
    const app = fastify();
    app.register(
      opsPlugin({
        history: createMemoryHistory(),
        operator: nobodyActs,
        health: async () => ({ ok: true }),
        records,
        clock: { now: clock.now, monotonic: clock.now, after: clock.setTimer },
        signIn: createOidcSignIn({
          issuer: provider.issuer,
          clientId: "dashboard",
          clientSecret: "of-the-dashboard",
          publicUrl,
          ...(rolesClaim === undefined ? {} : { rolesClaim }),
        }),
      }),
    );
    await app.ready();
    onTestFinished(() => app.close());
    return app;
  };
  return { app: await dashboard(), other: await dashboard(), provider, clock };
}

const never = async (): Promise<never> => {
  throw new Error("nothing is done here");
};
const nobodyActs: RunOperator = {
  show: async () => undefined,
  findByKey: async () => undefined,
  cancel: never,
  retry: never,
  finish: never,
  release: never,
};

interface Begun {
  readonly location: string;
  readonly cookie: string;
}

async function begin(app: FastifyInstance, to = "/ops/runs"): Promise<Begun> {
  const reply = await app.inject({ url: `/ops/begin?to=${encodeURIComponent(to)}` });
  expect(reply.statusCode).toBe(303);
  return { location: String(reply.headers.location), cookie: cookieOf(reply) };
}

const enter = (app: FastifyInstance, back: URL, cookie: string): Promise<LightMyRequestResponse> =>
  app.inject({ url: `/ops/enter${back.search}`, headers: { cookie } });

describe("a person who signs in at the provider", () => {
  test.each([
    ["mia", "operator"],
    ["val", "viewer"],
  ])("gets the role that a claim gives: %s is %s", async (person, role) => {
    const { app, provider } = await open();
    const { location, cookie } = await begin(app);
    const asked = new URL(location).searchParams;
    expect(asked.get("code_challenge_method")).toBe("S256");
    expect(asked.get("nonce")).toMatch(/\S{20}/);
    const entered = await enter(app, await provider.signIn(location, person), cookie);
    expect(entered.statusCode).toBe(200);
    expect(entered.body).toContain('content="0;url=/ops/runs"');
    const session = cookieOf(entered);
    const me = (await app.inject({ url: "/ops/api/me", headers: { cookie: session } })).json();
    expect(me).toMatchObject({ role, actor: `${person}@example.com (${person})` });
  });

  test("without a role is turned away, and has no session", async () => {
    const { app, provider } = await open();
    const { location, cookie } = await begin(app);
    const entered = await enter(app, await provider.signIn(location, "joe"), cookie);
    expect(entered.statusCode).toBe(403);
    expect(entered.body).toContain("no role here");
    expect(cookieOf(entered)).toBe("");
  });

  test("has no role from a claim that is not there, or that is inherited", async () => {
    for (const claim of ["groups", "roles.0.x", "constructor.name", "__proto__"]) {
      const { app, provider } = await open(claim);
      const { location, cookie } = await begin(app);
      const entered = await enter(app, await provider.signIn(location, "mia"), cookie);
      expect(entered.statusCode, claim).toBe(403);
    }
  });
});

describe("a callback", () => {
  test("is taken by any dashboard of the deployment, and lets in at all of them", async () => {
    const { app, other, provider } = await open();
    const { location, cookie } = await begin(app);
    const entered = await enter(other, await provider.signIn(location, "mia"), cookie);
    expect(entered.statusCode).toBe(200);
    const headers = { cookie: cookieOf(entered) };
    for (const each of [app, other]) {
      const me = await each.inject({ url: "/ops/api/me", headers });
      expect(me.json()).toMatchObject({ role: "operator" });
    }
  });

  test("is refused after ten minutes, with an altered cookie, and with that of another deployment", async () => {
    const { app, provider, clock } = await open();
    const stranger = await open();
    const { cookie: foreign } = await begin(stranger.app);
    const { location, cookie } = await begin(app);
    const back = await provider.signIn(location, "mia");
    const at = cookie.length - 30;
    const altered = cookie.slice(0, at) + (cookie[at] === "A" ? "B" : "A") + cookie.slice(at + 1);
    for (const each of [altered, foreign, cookie.slice(0, -4), `${cookie}.x`]) {
      const entered = await enter(app, back, each);
      expect(entered.statusCode).toBe(403);
      expect(entered.body).toContain("was not begun in this browser");
      expect(cookieOf(entered)).toBe("");
    }
    clock.advance(10 * 60_000);
    expect((await enter(app, back, cookie)).statusCode).toBe(403);
  });

  test("says nothing in its cookie of what protects it", async () => {
    const { app } = await open();
    const { location, cookie } = await begin(app);
    const { searchParams: asked } = new URL(location);
    const carried = cookie.slice(cookie.indexOf("=") + 1).split(".");
    const readable = carried.map((part) => Buffer.from(part, "base64url").toString("latin1"));
    for (const name of ["state", "nonce"]) {
      const word = asked.get(name) ?? "";
      expect(word).not.toBe("");
      expect([...carried, ...readable].join(" ")).not.toContain(word);
    }
  });

  test("of a sign-in that another browser began is refused", async () => {
    const { app, provider } = await open();
    const attacker = await begin(app);
    const victim = await begin(app);
    const back = await provider.signIn(attacker.location, "val");
    for (const cookie of ["", victim.cookie]) {
      const entered = await enter(app, back, cookie);
      expect(entered.statusCode).toBe(403);
      expect(cookieOf(entered)).toBe("");
    }
  });

  test("works once", async () => {
    const { app, provider } = await open();
    const { location, cookie } = await begin(app);
    const back = await provider.signIn(location, "mia");
    expect((await enter(app, back, cookie)).statusCode).toBe(200);
    expect((await enter(app, back, cookie)).statusCode).toBe(403);
  });

  test("with a code, state or error that somebody made up is refused without a word on why", async () => {
    const { app, provider } = await open();
    for (const change of [
      (back: URL) => back.searchParams.set("code", "made-up"),
      (back: URL) => back.searchParams.set("state", "made-up"),
      (back: URL) => back.searchParams.set("error", "<script>alert(1)</script>"),
    ]) {
      const { location, cookie } = await begin(app);
      const back = await provider.signIn(location, "mia");
      change(back);
      const entered = await enter(app, back, cookie);
      expect(entered.statusCode).toBe(403);
      expect(entered.body).toContain("The sign-in was refused.");
      expect(entered.body).not.toContain("script>");
      expect(cookieOf(entered)).toBe("");
    }
  });
});

test("while the provider is away, people are told to try again", async () => {
  const { app, provider } = await open();
  await provider.stop();
  const reply = await app.inject({ url: "/ops/begin" });
  expect(reply.statusCode).toBe(503);
  expect(reply.body).toContain("Signing in is not possible now");
});

test.each([
  ["issuer", { issuer: "http://login.example.com", publicUrl: "https://ops.example.com/ops" }],
  ["publicUrl", { issuer: "https://login.example.com", publicUrl: "ops.example.com" }],
  ["issuer", { issuer: "", publicUrl: "https://ops.example.com/ops" }],
])("an address that is not protected is refused at the start, by name: %s", (name, urls) => {
  expect(() => createOidcSignIn({ clientId: "dashboard", ...urls })).toThrow(
    expect.objectContaining({ code: "CONFIG_INVALID", message: expect.stringContaining(name) }),
  );
});
