/**
 * A process that is stopped (SIGSTOP) with an attempt in its hands, past its lease, and goes on (SIGCONT) after another
 * process has taken the run over: whatever it writes is refused, and the effects stay one (docs/design.md 4.2).
 *
 * A paused attempt may still finish the one external call it was in. The payment service knows that call by its key;
 * a mail server knows no keys, so a mail that it was about to send is the one thing that may come twice.
 */
import { afterAll, beforeAll, expect, test } from "vitest";
import { seed } from "../support/config.ts";
import { answerTo, firstRequest, resultOf, withoutMeta } from "./support/dialogue.ts";
import { CaseWorld, type Facts } from "./support/outside.ts";
import { sampled } from "./support/sample.ts";
import { confirmed, refundAccepted } from "./support/scenarios.ts";
import type { ReachedPoint } from "./support/serverProcess.ts";
import { Spares } from "./support/spares.ts";
import { trace } from "./support/undisturbed.ts";
import { sendCall } from "./support/wire.ts";

const leaseMs = 1_500;
const refund = confirmed("refund_order", { orderId: "1001" });

let spares: Spares;
beforeAll(async () => {
  spares = await Spares.start(0);
});
afterAll(() => spares.close());

interface StaleEnding {
  readonly results: readonly unknown[];
  readonly facts: Facts;
  /** What the store said to the stale holder's writes. */
  readonly writes: readonly string[];
  /** The effects that it began after it woke up. */
  readonly effects: readonly string[];
}

/** Stops the first process at a point of the last round, has the second take over, and lets the first go on. */
async function pausedAt(point: string, occurrence: number): Promise<StaleEnding> {
  const world = await CaseWorld.start();
  const [stale, heir] = [spares.take(), spares.take()];
  try {
    await stale.open(world.composition({ leaseMs }));
    const first = firstRequest(refund);
    const question = resultOf(await sendCall(stale.url, first).reply);
    const lastRound = answerTo(first, refund, question);

    let left = occurrence;
    let letCallEnd: () => void = () => undefined;
    const callEnded = new Promise<void>((resolve) => {
      letCallEnd = resolve;
    });
    const held = new Promise<ReachedPoint>((resolve) => {
      stale.steering = {
        reached(reached) {
          if (reached.name === point) left -= 1;
          if (reached.name === point.replace("before", "after")) letCallEnd();
          if (reached.name === point && left === 0) resolve(reached);
          else reached.go();
        },
      };
    });
    const staleCall = sendCall(stale.url, lastRound);
    const waiting = await held;
    await stale.freeze();
    await heir.open(world.composition({ leaseMs }));
    const taken = resultOf(await sendCall(heir.url, lastRound).reply);

    const before = stale.names.length;
    stale.thaw();
    waiting.go();
    const late = resultOf(await staleCall.reply);
    // The one external call that it was in is its own to finish, and ours to count.
    if (/^before (payments|mail)/.test(point)) await callEnded;
    const names = (await stale.close()).slice(before);
    await heir.close();
    for (const server of [stale, heir]) spares.giveBack(server);
    const isWrite = (name: string): boolean =>
      name !== point && /^after (append|endRound)/.test(name);
    return {
      results: [withoutMeta(taken), withoutMeta(late)],
      facts: await world.facts(),
      writes: names.filter(isWrite),
      effects: names.filter((name) => /^before (payments|mail)/.test(name)),
    };
  } finally {
    await world.close();
  }
}

// promise P4.2.2
test("a process that was stopped past its lease records nothing and repeats no effect", async () => {
  const { points, seen, facts } = await trace({ scenario: refundAccepted }, spares);
  const claimed = points.indexOf("after claimRound: CLAIMED");
  const ended = points.findIndex((point) => point.startsWith("before endRound completed"));
  // From its claim to its last write the attempt is in the hands of the process.
  const held = points.map((_, place) => place).slice(claimed, ended + 1);
  const places = sampled("stale holder", held);
  process.stdout.write(`stale holder: ${places.length} of ${held.length} points, seed ${seed}\n`);
  for (const place of places) {
    const point = points[place] ?? "";
    const inRound = points.slice(points.indexOf("before claimRound"), place + 1);
    const occurrence = inRound.filter((name) => name === point).length;
    const stale = await pausedAt(point, occurrence);
    const where = `stopped at ${place}, ${point}`;
    const result = seen[0]?.result;
    expect(stale.results, where).toEqual([result, result]);
    expect(stale.effects, where).toEqual([]);
    // It tries one write at most, unless its renewal has told it before; the end of the test may find it at that.
    const refusals = stale.writes.map((write) => write.replace(/^.*: /, ""));
    expect(["", "LEASE_LOST", "it threw"], where).toContain(refusals.join());
    const mailedTwice = point === "before mail.receipt";
    const mails = mailedTwice ? [...facts.mails, ...facts.mails] : facts.mails;
    expect(stale.facts, where).toEqual({ ...facts, mails });
  }
});
