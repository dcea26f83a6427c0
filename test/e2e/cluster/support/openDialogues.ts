/**
 * Many dialogues with the shop that wait for a person, at a cluster of real processes behind nginx, and a client that bears
 * outages: it repeats a request for as long as it is told that this helps.
 */
import type { Booking } from "@reprise/shop";
import type { Cluster } from "../../../support/cluster/cluster.ts";
import { answerTo, firstRequest, resultOf } from "../../support/dialogue.ts";
import type { ScenarioCall } from "../../support/scenarios.ts";
import {
  type CallParams,
  ConnectionLost,
  sendCall,
  type WireReply,
  type WireResult,
} from "../../support/wire.ts";
import { unlessRepeatable } from "./client.ts";
import { inLanes } from "./lanes.ts";

/** Requests that are under way at a time. */
const lanes = 16;
const patienceMs = 120_000;

/** A trip that is being booked: two rounds of questions, two bookings. */
export class Dialogue {
  readonly city: string;
  /** The error code of the last reply; undefined while there was none. */
  refusal: number | undefined;
  #newest: WireResult = {};
  /** The request that got the newest result. */
  #lastRequest: CallParams;
  readonly #url: string;
  readonly #call: ScenarioCall;
  readonly #first: CallParams;

  private constructor(url: string, city: string) {
    this.#url = url;
    this.city = city;
    this.#call = { tool: "book_trip", args: { city }, answers, keyed: true };
    this.#first = firstRequest(this.#call);
    this.#lastRequest = this.#first;
  }

  /** Makes the first call; the dialogue waits for its answers then. */
  static async open(cluster: Cluster, city: string): Promise<Dialogue> {
    const dialogue = new Dialogue(cluster.url, city);
    dialogue.#take(await patiently(dialogue.#url, dialogue.#first));
    return dialogue;
  }

  get isComplete(): boolean {
    return this.#newest.resultType === "complete";
  }

  /** Id of the key that sealed the open question's state. */
  get kid(): string {
    const [header = ""] = (this.#newest.requestState ?? "").split(".");
    return (JSON.parse(Buffer.from(header, "base64url").toString()) as { kid: string }).kid;
  }

  /** Answers what is asked now. */
  async answer(): Promise<void> {
    this.#lastRequest = answerTo(this.#first, this.#call, this.#newest);
    await this.repeat();
  }

  /** Sends the last request once more. */
  async repeat(): Promise<void> {
    this.#take(await patiently(this.#url, this.#lastRequest));
  }

  /** Answers until nothing is asked any more, or a reply is an error. */
  async finish(): Promise<void> {
    while (!this.isComplete && this.refusal === undefined) await this.answer();
  }

  #take(reply: WireReply): void {
    this.refusal = reply.error?.code;
    if (reply.error === undefined) this.#newest = resultOf(reply);
  }
}

/** Does something with all dialogues, some at a time. */
export function withAll(
  dialogues: readonly Dialogue[],
  work: (dialogue: Dialogue) => Promise<void>,
): Promise<void> {
  return inLanes(lanes, dialogues, work, ({ city }) => city);
}

/** Opens dialogues, each about a city of its own. */
export async function openMany(cluster: Cluster, cities: readonly string[]): Promise<Dialogue[]> {
  const opened: Dialogue[] = [];
  await inLanes(lanes, cities, async (city) => {
    opened.push(await Dialogue.open(cluster, city));
  });
  return opened;
}

/** How many bookings there are for each city. */
export async function bookingsByCity(cluster: Cluster): Promise<ReadonlyMap<string, number>> {
  const response = await fetch(new URL("/bookings", cluster.outside));
  const bookings = (await response.json()) as readonly Booking[];
  const counts = new Map<string, number>();
  for (const { city } of bookings) counts.set(city, (counts.get(city) ?? 0) + 1);
  return counts;
}

const answers = {
  dates: { action: "accept", content: { departure: "2027-03-01", nights: 3 } },
  comfort: { action: "accept", content: { travelClass: "economy", hotelStars: "4" } },
  confirm: { action: "accept", content: { confirm: true } },
};

async function patiently(url: string, params: CallParams): Promise<WireReply> {
  const giveUpAt = Date.now() + patienceMs;
  for (;;) {
    try {
      return await unlessRepeatable(sendCall(url, params).reply);
    } catch (error) {
      if (!(error instanceof ConnectionLost) || Date.now() > giveUpAt) throw error;
    }
  }
}
