/**
 * Sessions that several dashboards share: what one of them lets in all do, what one of them ends is over everywhere, and a cookie
 * that none of them gave is worth nothing.
 */

import { RepriseError } from "@reprise/errors";
import { createProcessRecords, type SharedRecords } from "@reprise/runtime";
import { describe, expect, test } from "vitest";
import * as z from "zod";
import { cookieOf, type Dashboard, openDashboard, visitorOf } from "./support/dashboard.ts";
import { recordOf } from "./support/runs.ts";

const start = 1_800_000_000_000;
const rosterKey = { kind: "ops-roster", id: "1" };
const html = { accept: "text/html" };

interface Pair {
  readonly records: SharedRecords;
  readonly one: Dashboard;
  readonly other: Dashboard;
  /** Both clocks. */
  advance(ms: number): void;
}

/** Two dashboards of one deployment; a balancer sends each request to either. */
async function pair(): Promise<Pair> {
  let now = start;
  const records = createProcessRecords(() => now);
  const one = await openDashboard({ records });
  const other = await openDashboard({ records });
  return {
    records,
    one,
    other,
    advance(ms) {
      now += ms;
      one.clock.advance(ms);
      other.clock.advance(ms);
    },
  };
}

const statusAt = async ({ app }: Dashboard, cookie: string): Promise<number> =>
  (await app.inject({ url: "/ops/api/me", headers: { cookie } })).statusCode;

/** What a cookie holds, without its name. */
const idIn = (cookie: string): string => cookie.slice(cookie.indexOf("=") + 1);

describe("two dashboards of one deployment", () => {
  test("know whoever signed in at one of them, and take an action that the other one's page sends", async () => {
    const { one, other } = await pair();
    one.records.set("r-1", recordOf("r-1"));
    other.records.set("r-1", recordOf("r-1"));
    const visitor = await one.signIn();
    const there = await visitorOf(other.app, visitor.cookie);
    expect(there.csrf).toBe(visitor.csrf);
    expect((await there.post("runs/r-1/cancel")).json()).toMatchObject({ outcome: "done" });
    expect(other.told).toEqual(["cancel r-1"]);
  });

  test("both let nobody in any more who signed out at one of them", async () => {
    const { one, other } = await pair();
    const visitor = await one.signIn();
    const there = await visitorOf(other.app, visitor.cookie);
    expect((await there.post("signout")).statusCode).toBe(200);
    expect(await statusAt(one, visitor.cookie)).toBe(401);
  });

  test("count a use at one as a use at the other", async () => {
    const { one, other, advance } = await pair();
    const { cookie } = await one.signIn();
    advance(40 * 60_000);
    expect(await statusAt(other, cookie)).toBe(200);
    advance(40 * 60_000);
    expect(await statusAt(one, cookie)).toBe(200);
    advance(60 * 60_000);
    expect(await statusAt(other, cookie)).toBe(401);
  });

  test("lose no sign-in and no end of one that come at the same time", async () => {
    const { one, other } = await pair();
    const both = [one, other];
    const staying = await Promise.all(both.map((each) => each.signIn()));
    const leaving = await Promise.all(both.map((each) => each.signIn()));
    const coming = both.map((each) => each.signIn());
    await Promise.all(leaving.map((visitor) => visitor.post("signout")));
    for (const { cookie } of [...staying, ...(await Promise.all(coming))])
      expect(await statusAt(one, cookie)).toBe(200);
    for (const { cookie } of leaving) expect(await statusAt(one, cookie)).toBe(401);
  });
});

describe("a sign-out", () => {
  test("is not undone by a use that was under way", async () => {
    const { one, other, records, advance } = await pair();
    const visitor = await one.signIn();
    advance(5 * 60_000);
    // The use reads the session and finds it open; before it is written, the person signs out at the other one.
    const { get } = records;
    let isFirst = true;
    records.get = async (key) => {
      const found = await get(key);
      if (isFirst) {
        isFirst = false;
        const there = await visitorOf(other.app, visitor.cookie);
        expect((await there.post("signout")).statusCode).toBe(200);
      }
      return found;
    };
    expect(await statusAt(one, visitor.cookie)).toBe(401);
    expect(await statusAt(other, visitor.cookie)).toBe(401);
  });
});

describe("a cookie", () => {
  test("that was altered anywhere is nobody's", async () => {
    const { one } = await pair();
    const { cookie } = await one.signIn();
    const id = idIn(cookie);
    for (let at = 0; at < id.length; at += 1) {
      const altered = id.slice(0, at) + (id[at] === "A" ? "B" : "A") + id.slice(at + 1);
      expect(await statusAt(one, cookie.replace(id, altered)), `at ${at}`).toBe(401);
    }
    for (const odd of [
      "",
      `${id}A`,
      id.slice(1),
      id.toLowerCase(),
      "__proto__",
      "x".repeat(4000),
    ]) {
      expect(await statusAt(one, cookie.replace(id, odd))).toBe(401);
    }
    expect(await statusAt(one, cookie)).toBe(200);
  });

  test("made from what the store holds is nobody's: the store holds no cookie", async () => {
    const { one, records } = await pair();
    const { cookie, csrf } = await one.signIn();
    const kept = JSON.stringify((await records.get(rosterKey))?.value);
    expect(kept).not.toContain(idIn(cookie));
    expect(kept).not.toContain(csrf);
    for (const word of kept.match(/[\w-]{30,}/g) ?? []) {
      expect(await statusAt(one, cookie.replace(idIn(cookie), word))).toBe(401);
    }
  });

  test("of another deployment is nobody's, and neither is that of a dashboard that has started anew without a store", async () => {
    const { one } = await pair();
    const stranger = await pair();
    const { cookie } = await one.signIn();
    expect(await statusAt(stranger.one, cookie)).toBe(401);
    const restarted = await openDashboard();
    expect(await statusAt(restarted, cookie)).toBe(401);
  });

  test("works as long as a session may live, whatever its browser makes of it", async () => {
    const { one, other, advance } = await pair();
    const { cookie } = await one.signIn();
    for (let minutes = 0; minutes < 8 * 60 - 30; minutes += 30) {
      advance(30 * 60_000);
      expect(await statusAt(other, cookie)).toBe(200);
    }
    advance(30 * 60_000);
    expect(await statusAt(other, cookie)).toBe(401);
  });
});

describe("a role", () => {
  test("is that of the newest sign-in: an operator who comes back as a viewer acts nowhere any more", async () => {
    const { one, other } = await pair();
    const person = { actor: "mia (u-77)" };
    const operator = await signedInAs(one, { ...person, role: "operator" });
    const elsewhere = await signedInAs(other, { ...person, role: "operator" });
    const somebodyElse = await signedInAs(other, { actor: "val (u-78)", role: "operator" });
    const viewer = await signedInAs(other, { ...person, role: "viewer" });
    for (const { cookie } of [operator, elsewhere]) expect(await statusAt(one, cookie)).toBe(401);
    expect((await viewer.post("runs/r-1/cancel")).statusCode).toBe(403);
    expect(await statusAt(one, somebodyElse.cookie)).toBe(200);
  });

  test("can't be had by signing in over another's session: the browser's former one ends", async () => {
    const { one } = await pair();
    const operator = await one.signIn();
    const again = await one.app.inject({
      url: `/ops/${one.linkFor("viewer")}`,
      headers: { cookie: operator.cookie },
    });
    expect(await statusAt(one, operator.cookie)).toBe(401);
    const viewer = await visitorOf(one.app, cookieOf(again));
    expect((await viewer.get("me")).json()).toMatchObject({ role: "viewer" });
  });

  test("is not changed by what a record of another form says", async () => {
    const { one, records } = await pair();
    const { cookie } = await one.signIn();
    const found = await records.get(rosterKey);
    const { sessions } = z
      .object({ sessions: z.array(z.looseObject({ role: z.string() })).min(1) })
      .parse(found?.value);
    for (const value of [
      { key: "short", sessions },
      { key: "k".repeat(43), sessions: sessions.map((each) => ({ ...each, role: "root" })) },
      { key: "k".repeat(43), sessions: { 0: sessions[0] ?? null } },
      [],
      null,
    ]) {
      const { revision } = (await records.get(rosterKey)) ?? {};
      await records.put(rosterKey, value as never, revision, start + 60_000);
      expect(await statusAt(one, cookie)).toBe(401);
    }
    expect(await statusAt(one, (await one.signIn()).cookie)).toBe(200);
  });
});

test("one person's many sign-ins end that person's oldest session and nobody else's", async () => {
  const { one } = await pair();
  const other = await signedInAs(one, { actor: "val", role: "viewer" });
  const own: string[] = [];
  for (let at = 0; at < 21; at += 1) {
    own.push((await signedInAs(one, { actor: "mia", role: "operator" })).cookie);
  }
  expect(await statusAt(one, own[0] ?? "")).toBe(401);
  expect(await statusAt(one, own[1] ?? "")).toBe(200);
  expect(await statusAt(one, other.cookie)).toBe(200);
});

describe("while the store refuses", () => {
  test("what is new, people still sign in: the record is there before", async () => {
    const { one, records } = await pair();
    const { put } = records;
    records.put = async (key, value, expected, expiresAt) => {
      if (expected === undefined) throw new RepriseError("STORE_FULL", "There is no room.");
      return await put(key, value, expected, expiresAt);
    };
    expect(await statusAt(one, (await one.signIn()).cookie)).toBe(200);
  });

  test("everything, a page says so to everybody, a call says it with its code, and the session stands afterwards", async () => {
    const { one, records } = await pair();
    const { cookie } = await one.signIn();
    const { get } = records;
    records.get = async () => {
      throw new RepriseError("STORE_UNAVAILABLE", "The store can't be reached.");
    };
    const page = await one.app.inject({ url: "/ops/runs", headers: { ...html, cookie } });
    const stranger = await one.app.inject({ url: "/ops/runs", headers: { ...html, cookie: "" } });
    expect([page.statusCode, stranger.statusCode]).toEqual([503, 303]);
    expect(page.body).toContain("can't be reached");
    const call = await one.app.inject({ url: "/ops/api/me", headers: { cookie } });
    expect(call.statusCode).toBe(503);
    expect(call.json()).toMatchObject({ error: { code: "STORE_UNAVAILABLE" } });
    records.get = get;
    expect(await statusAt(one, cookie)).toBe(200);
  });
});

/** Somebody of whom a test says who it is. */
async function signedInAs(
  dashboard: Dashboard,
  person: { readonly actor: string; readonly role: "operator" | "viewer" },
): ReturnType<Dashboard["signIn"]> {
  const reply = await dashboard.app.inject({
    url: `/ops/${dashboard.linkFor(person.role, person.actor)}`,
  });
  return await visitorOf(dashboard.app, cookieOf(reply));
}
