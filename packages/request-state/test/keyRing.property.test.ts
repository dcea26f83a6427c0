/**
 * The ring under random histories: members that come and go, outages, a database that loses everything or single keys,
 * reconnects, rotations, revocations.
 *
 * Two promises are checked after each event, for every state that was ever sealed. One member of those in the history may
 * be cut off at a time, and every member sees the ring once before the next event: with every holder of a key out of
 * reach at the moment of a loss there is nothing that could keep them.
 */
import { createKeyRingAdmin } from "@reprise/request-state";
import fc from "fast-check";
import { expect, it } from "vitest";
import { longRun, seed } from "../../../test/support/config.ts";
import { createRingWorld, type RingProcess, SECOND } from "./support/ringProcesses.ts";

type Event =
  | { readonly kind: "join" | "replace" | "cut" | "rotate" | "revoke" | "reconnect"; at: number }
  | { readonly kind: "lose" | "mend" }
  | { readonly kind: "loseSome"; readonly at: number }
  | { readonly kind: "stop"; readonly ms: number };

const at = fc.nat({ max: 99 });
const event: fc.Arbitrary<Event> = fc.oneof(
  fc.record({
    kind: fc.constantFrom("join", "replace", "cut", "rotate", "revoke", "reconnect"),
    at,
  }),
  fc.record({ kind: fc.constantFrom("lose", "mend") }),
  fc.record({ kind: fc.constant("loseSome"), at }),
  fc.record({ kind: fc.constant("stop"), ms: fc.integer({ min: 1, max: 50_000 }) }),
);

interface Sealed {
  readonly token: string;
  readonly kid: string;
}

async function play(events: readonly Event[]): Promise<void> {
  const world = createRingWorld();
  const admin = createKeyRingAdmin(world.database.connect().store);
  const members: RingProcess[] = [];
  const sealed: Sealed[] = [];
  const revoked = new Set<string>();
  let cut: RingProcess | undefined;
  let joined = 0;

  const join = async (): Promise<RingProcess> => {
    joined += 1;
    return await world.join(`member ${joined}`);
  };
  const seal = (member: RingProcess): void => {
    sealed.push({ token: member.seal(), kid: member.ring.sealing().kid });
  };
  const pick = <T>(list: readonly T[], index: number): T => {
    const one = list[index % list.length];
    if (one === undefined) throw new Error("nothing to pick from");
    return one;
  };
  const happen = async (what: Event): Promise<void> => {
    if (what.kind === "join" && members.length < 5) members.push(await join());
    if (what.kind === "replace" && members.length > 2) {
      const [gone] = members.splice(what.at % members.length, 1);
      await gone?.ring.close();
      if (gone === cut) cut = undefined;
      members.push(await join());
    }
    if (what.kind === "cut" && cut === undefined) {
      cut = pick(members, what.at);
      cut.link.mode("down");
    }
    if (what.kind === "mend") {
      cut?.link.mode("up");
      cut = undefined;
    }
    if (what.kind === "rotate") await admin.rotate();
    if (what.kind === "revoke") {
      const { kid } = pick(sealed, what.at);
      revoked.add(kid);
      await admin.revoke(kid);
    }
    if (what.kind === "reconnect") pick(members, what.at).link.reconnect();
    if (what.kind === "lose") world.database.lose();
    if (what.kind === "loseSome") {
      const all = [...world.database.keys(), ...world.database.tombstones()];
      world.database.loseOnly(all.map(({ kid }) => kid).filter((_, n) => (n + what.at) % 3 === 0));
    }
    if (what.kind === "stop") world.stopFor(what.ms);
  };

  members.push(await join(), await join(), await join());
  for (const what of events) {
    for (const member of members) {
      if (member !== cut) seal(member);
    }
    await happen(what);
    // Long enough for every member to look, and for a revocation to be in force.
    await world.pass(10 * SECOND);
    for (const member of members) {
      for (const { token, kid } of sealed) {
        const verdict = await world.within(12 * SECOND, member.judge(token));
        const where = `${what.kind}: key ${kid} at ${member === cut ? "the one cut off" : "a member"}`;
        if (member === cut) {
          // It may know of the revocation, with or without the key, or not yet.
          const known = revoked.has(kid) ? ["revoked_key", "kid_unknown"] : [];
          expect(["opened", "ring_unavailable", ...known], where).toContain(verdict);
        } else if (revoked.has(kid)) {
          expect(["revoked_key", "kid_unknown"], where).toContain(verdict);
        } else {
          expect(verdict, where).toBe("opened");
        }
      }
    }
    sealed.splice(0, Math.max(0, sealed.length - 12));
  }
}

it("No history ends a dialogue whose key was not revoked, or brings a revoked key back", async () => {
  await fc.assert(fc.asyncProperty(fc.array(event, { minLength: 3, maxLength: 20 }), play), {
    seed,
    numRuns: longRun ? 1000 : 25,
  });
});
