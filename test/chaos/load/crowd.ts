/**
 * A crowd at the shop: some people at a time, each doing one errand after the other until they are sent home, a few of them
 * with clients of the handshake era.
 */
import type { Draw } from "../draw.ts";
import { type Manners, visit } from "./carefulClient.ts";
import { type Errand, type ErrandName, errandOf, errandsFrom } from "./errands.ts";
import { legacyVisit } from "./legacyClient.ts";
import { bill } from "./payer.ts";
import type { LoadRecord } from "./record.ts";

/** Who comes. */
export interface CrowdPlan {
  readonly url: string;
  /** Origin of the payment service. */
  readonly outside: string;
  readonly draw: Draw;
  /** At a time. */
  readonly people: number;
  /** In all; then they go home by themselves. Default: until `goHome`. */
  readonly errands?: number;
  /** Of people, how many have a client of the handshake era. Default one in twenty. */
  readonly legacyShare?: number;
  readonly manners?: Manners;
  readonly names?: readonly ErrandName[];
  readonly thinkMs?: readonly [number, number];
  /** How long a client tries. */
  readonly patienceMs: number;
  readonly record: LoadRecord;
}

/** A crowd that has come. */
export interface Crowd {
  /** Nobody begins another errand. */
  goHome(): void;
  /** Resolves when everybody is through, and so are their late repetitions. */
  readonly gone: Promise<void>;
}

/** Callers with accounts; more people than these share one. */
const callers = ["ada", "ben", "chika", "dana", "eli", "fay", "gus", "hal"];
/** Of tools with a key of their own, and one question. */
const legacyErrands: readonly ErrandName[] = [
  ...["refund", "refund", "refundDeclined"],
  ...["pay", "payLate", "payNever", "payDeclined"],
] as const;
const usualThinkMs = [100, 3_000] as const;

/** They come. */
export function crowd(plan: CrowdPlan): Crowd {
  const { url, draw, people, legacyShare = 0.05, manners = {}, record, patienceMs } = plan;
  const errands = errandsFrom(
    draw.of("errands"),
    draw.between(100_000, 999_999).toString(36),
    plan.names,
  );
  const thinkMs = plan.thinkMs ?? usualThinkMs;
  const stragglers: Promise<unknown>[] = [];
  let isOver = false;
  let left = plan.errands ?? Number.POSITIVE_INFINITY;

  const person = async (place: number): Promise<void> => {
    const own = draw.of(`person ${place}`);
    const isLegacy = own.chance(legacyShare);
    while (!isOver && left > 0) {
      left -= 1;
      const { value } = errands.next() as IteratorYieldResult<Errand>;
      // Their tool's own key is what lets them call again.
      const errand = isLegacy ? errandOf(own.oneOf(legacyErrands), value.tag) : value;
      await bill(plan.outside, errand);
      const caller = callers[place % callers.length] ?? "ada";
      const each = { url, caller, errand, manners, draw: own, record, thinkMs, patienceMs };
      record.ended.push(await (isLegacy ? legacyVisit : visit)(each, stragglers));
    }
  };
  const all = Promise.all(Array.from({ length: people }, (_, place) => person(place)));
  return {
    goHome() {
      isOver = true;
    },
    gone: all.then(async () => {
      await Promise.all(stragglers);
    }),
  };
}
