/**
 * A person who is sent to the payment service's card page, as a browser without script: pays, pays late, has a card declined, or
 * never pays; and comes back to the shop's own page, which is what completes the question.
 *
 * 1. However often the question is shown, an invoice is paid by one form; what is paid already is only told to the shop again.
 * 2. A page that does not come, or says "in a moment", is loaded again. One that says that nothing waits there is believed, until
 *    the question is shown once more.
 * 3. Somebody else who has the address of the shop's page is told nothing there. If they are thanked, their visit was taken for
 *    this person's, which is a contradiction of the record.
 */
import { setTimeout as pause } from "node:timers/promises";
import { cards, type FilledForm, fillIn } from "../../support/cardPage.ts";
import type { Draw } from "../draw.ts";
import type { Errand } from "./errands.ts";
import type { LoadRecord } from "./record.ts";

/** Who is sent to the page. */
export interface PayerPlan {
  readonly errand: Errand;
  readonly caller: string;
  readonly draw: Draw;
  readonly record: LoadRecord;
  /** Loads pages again until then, by `performance.now()`. */
  readonly until: number;
}

/** What bills an order. */
const usualBill = { amount: 490, currency: "EUR" };
const patienceMs = 10_000;
const againMs = 200;
/** Behind "done" of a person who has not paid: across several waits of the tool (role/loadShop.ts). */
const lateMs = [0, 4_000] as const;
const stranger = "mallory";

/** Has the payment service bill the order of an errand that is about paying; of others nothing. */
export async function bill(outside: string, { args, page, tag }: Errand): Promise<void> {
  if (page === undefined) return;
  const response = await fetch(new URL("/invoices", outside), {
    method: "POST",
    headers: { "content-type": "application/json", "idempotency-key": `bill ${tag}` },
    body: JSON.stringify({ orderId: args["orderId"], ...usualBill }),
  });
  if (!response.ok) throw new Error(`/invoices answered ${response.status}`);
}

/** One person with one errand. */
export class Payer {
  readonly #plan: PayerPlan;
  readonly #isLooked: boolean;
  #paying: Promise<void> | undefined;
  #thankedAtMs: number | undefined;

  constructor(plan: PayerPlan) {
    this.#plan = plan;
    this.#isLooked = plan.draw.chance(0.3);
  }

  /** When the shop's page first said that the payment is received, by `performance.now()`. */
  get thankedAtMs(): number | undefined {
    return this.#thankedAtMs;
  }

  /** What is said to the question that leads to `url`. Late payments go on. */
  async answer(url: string): Promise<"accept" | "decline"> {
    switch (this.#plan.errand.page) {
      case "pays":
        await this.#pay(url);
        return "accept";
      case "paysLate":
        void this.#pay(url);
        return "accept";
      case "isDeclined":
        await this.#send(await fillIn(url, cards.declined));
        return "decline";
      default:
        return "accept";
    }
  }

  /** Resolves when no page is being loaded any more. */
  async gone(): Promise<void> {
    await this.#paying;
  }

  /** Once at a time; again when the shop's page did not thank. */
  #pay(url: string): Promise<void> {
    if (this.#thankedAtMs !== undefined) return Promise.resolve();
    this.#paying ??= this.#payOnce(url).finally(() => {
      this.#paying = undefined;
    });
    return this.#paying;
  }

  async #payOnce(url: string): Promise<void> {
    const { errand, draw, caller, record } = this.#plan;
    if (errand.page === "paysLate") await pause(draw.between(...lateMs));
    const shopPage = await this.#shopPageBehind(url);
    if (this.#isLooked && (await visitAs(stranger, shopPage)) === 200) {
      record.contradictions.push(`a stranger's visit completed the question of ${errand.tag}`);
    }
    while (performance.now() < this.#plan.until) {
      const status = await visitAs(caller, shopPage);
      if (status === 200) this.#thankedAtMs = performance.now();
      if (status === 200 || status === 404) return;
      await pause(againMs);
    }
  }

  /** Pays unless that is done (1), and gives where the payment service sends the person then. */
  async #shopPageBehind(url: string): Promise<string> {
    const page = await (await fetch(url)).text();
    const back = shopPageIn(page);
    if (back !== undefined) return back;
    if (this.#isLooked) await this.#send(await fillIn(url, cards.declined));
    const paid = await this.#send(await fillIn(url, cards.accepted));
    const shopPage = paid.headers.get("location") ?? shopPageIn(await paid.text());
    if (shopPage === undefined) throw new Error(`${url} does not lead back: ${paid.status}`);
    return shopPage;
  }

  #send({ action, fields }: FilledForm): Promise<Response> {
    return fetch(action, { method: "POST", body: fields, redirect: "manual" });
  }
}

function shopPageIn(html: string): string | undefined {
  return /<a href="([^"]+)">Back to the shop/.exec(html)?.[1];
}

/** The status that somebody sees; undefined where nothing came. */
async function visitAs(person: string, url: string): Promise<number | undefined> {
  try {
    const signal = AbortSignal.timeout(patienceMs);
    const response = await fetch(url, { headers: { "x-caller": person }, signal });
    await response.arrayBuffer();
    return response.status;
  } catch {
    return undefined;
  }
}
