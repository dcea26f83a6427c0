/**
 * Many instances as people deploy them: dialogues that wander over fronts, and go on when a member dies.
 *
 * Counted at the payment service and in the mail log, processes that know nothing of Reprise. The matrices kill at every
 * point; here each kind of member dies once while a question is open.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { cards, fillIn, send } from "../support/cardPage.ts";
import { type BundledRoles, bundleRoles } from "../support/cluster/bundledRoles.ts";
import { type Cluster, startCluster } from "../support/cluster/cluster.ts";
import { RawClient } from "../support/rawMcp.ts";
import { answerTo, converse, firstRequest, resultOf, withoutMeta } from "./support/dialogue.ts";
import { confirmed } from "./support/scenarios.ts";
import { sendCall, type WireResult } from "./support/wire.ts";

let cluster: Cluster;
let dataDir = "";
let roles: BundledRoles | undefined;
beforeAll(async () => {
  roles = await bundleRoles();
  dataDir = await mkdtemp(path.join(tmpdir(), "reprise-cluster-"));
  cluster = await startCluster({
    dataDir,
    front: roles.front,
    worker: roles.worker,
    appendfsync: "always",
    // What a dead worker held is taken over soon.
    settings: { REPRISE_LEASE_MS: "2000" },
  });
});
afterAll(async () => {
  await cluster.stop();
  roles?.remove();
  await rm(dataDir, { recursive: true, force: true });
});

const refunded = { resultType: "complete", content: [{ type: "text", text: "Refunded €49.90." }] };

const listed = async (what: string): Promise<number> =>
  ((await (await fetch(new URL(what, cluster.outside))).json()) as unknown[]).length;

/** What the outside world counts more than it did. */
async function effectsOf<Value>(
  work: () => Promise<Value>,
): Promise<{ readonly value: Value; readonly refunds: number; readonly mails: number }> {
  const before = [await listed("/refunds"), await listed("/mails")];
  const value = await work();
  const after = [await listed("/refunds"), await listed("/mails")];
  const [refunds = 0, mails = 0] = after.map((count, place) => count - (before[place] ?? 0));
  return { value, refunds, mails };
}

const urlOf = (place: number): string => {
  const front = cluster.fronts[place % cluster.fronts.length];
  if (front === undefined) throw new Error("the cluster has no front");
  return front.url;
};

/** Asks at the first front, lets something happen, answers at the second one. */
async function acrossFronts(orderId: string, meanwhile: () => Promise<void>): Promise<unknown> {
  const call = confirmed("refund_order", { orderId });
  const first = firstRequest(call);
  const asked: WireResult = resultOf(await sendCall(urlOf(0), first).reply);
  expect(asked.resultType).toBe("input_required");
  await meanwhile();
  const reply = await sendCall(urlOf(1), answerTo(first, call, asked)).reply;
  return withoutMeta(resultOf(reply));
}

describe("a dialogue on many instances", () => {
  test("takes one round at each front, without any key being configured", async () => {
    const { value, ...effects } = await effectsOf(() =>
      acrossFronts("1001", async () => undefined),
    );
    expect(value).toEqual(refunded);
    expect(effects).toEqual({ refunds: 1, mails: 1 });
  });

  test("goes through nginx, which sends each round where it likes", async () => {
    const trip = {
      name: "trip",
      calls: [
        {
          tool: "book_trip",
          args: { city: "Lisbon" },
          answers: {
            dates: { action: "accept", content: { departure: "2027-03-01", nights: 3 } },
            comfort: { action: "accept", content: { travelClass: "economy", hotelStars: "4" } },
            confirm: { action: "accept", content: { confirm: true } },
          },
          keyed: true,
        },
      ],
    };
    const before = await listed("/bookings");
    const [seen] = await converse(trip, (params) => sendCall(cluster.url, params).reply);
    expect(seen?.questions).toHaveLength(2);
    expect((await listed("/bookings")) - before).toBe(2);
  });

  test("is finished by a web page at any front, while a worker waits for it", async () => {
    const client = new RawClient();
    const params = { name: "pay_invoice", arguments: { orderId: "1001" } };
    const { result } = await client.call(urlOf(0), { params });
    const { requestState, inputRequests = {} } = result ?? {};
    const { params: asked } = inputRequests["elicitUrl"] as { params: { url: string } };
    const form = await fillIn(asked.url, cards.accepted);

    const { value, ...effects } = await effectsOf(async () => {
      const inputResponses = { elicitUrl: { action: "accept" } };
      const request = { params: { ...params, requestState, inputResponses } };
      const reply = client.call(urlOf(1), request);
      const page = await send(form);
      expect(page.url).toContain(new URL("/shop/paid/", cluster.url).href);
      expect(page.html).toContain("We have received €4.90");
      return reply;
    });
    client.close();
    expect(value.result?.content).toEqual([
      { type: "text", text: "Paid €4.90 for order 1001 (payment-4, card ending in 4242)." },
    ]);
    expect(effects).toEqual({ refunds: 0, mails: 1 });
    expect(await listed("/payments")).toBe(1);
  });

  test("goes on when the front that asked is killed", async () => {
    const [front] = cluster.fronts;
    const { value, ...effects } = await effectsOf(() =>
      acrossFronts("1002", async () => front?.member.kill()),
    );
    await front?.member.start();
    expect(value).toMatchObject({ resultType: "complete" });
    expect(effects).toEqual({ refunds: 1, mails: 1 });
  });

  test("goes on when the workers are killed and new ones come", async () => {
    const { value, ...effects } = await effectsOf(() =>
      acrossFronts("1003", async () => {
        await Promise.all(cluster.workers.map((worker) => worker.restart()));
      }),
    );
    expect(value).toMatchObject({ resultType: "complete" });
    expect(effects).toEqual({ refunds: 1, mails: 1 });
  });

  test("goes on when Redis is killed and reads its file again", async () => {
    const { value, ...effects } = await effectsOf(() =>
      acrossFronts("1004", () => cluster.redis.restart()),
    );
    expect(value).toMatchObject({ resultType: "complete" });
    expect(effects).toEqual({ refunds: 1, mails: 1 });
  });

  test("is not begun twice by a front that was frozen meanwhile and thaws", async () => {
    const [front] = cluster.fronts;
    const { value, ...effects } = await effectsOf(() =>
      acrossFronts("1005", async () => front?.member.freeze()),
    );
    front?.member.thaw();
    expect(value).toMatchObject({ resultType: "complete" });
    expect(effects).toEqual({ refunds: 1, mails: 1 });
  });
});

describe("every process", () => {
  test("says that it is ready, and a front that Redis is gone", async () => {
    const ready = (place: number): Promise<number> =>
      fetch(new URL("/readyz", urlOf(place))).then(({ status }) => status);
    expect(await ready(0)).toBe(200);
    await cluster.redis.kill();
    expect(await ready(0)).toBe(503);
    await cluster.redis.start();
  });
});
