/**
 * The payment service's card page: `/pay/{orderId}?reference=...`, a form that works without script.
 *
 * 1. A card's number is looked at here and forgotten: it is in no reply, no log and no ledger.
 * 2. Only a form that this process made, for this invoice and reference, within the last hour, can pay.
 * 3. Paying what is paid charges nothing and says so.
 * 4. Afterwards people are sent to the registered shop and nowhere else: no address is taken from a request.
 */
import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import type { FastifyInstance, FastifyReply } from "fastify";
import * as z from "zod";
import { type Html, html, htmlPage, pageHeaders } from "../html.ts";
import { formatMoney } from "../money.ts";
import type { PaymentBook } from "./book.ts";
import { acceptedCard, checkCard, declinedCard } from "./cards.ts";
import type { Merchant } from "./merchant.ts";
import type { Invoice } from "./model.ts";

/** Which invoice is paid, and what the merchant knows the payment by. */
interface Visit {
  readonly orderId: string;
  readonly reference: string | null;
}

const formLifeMs = 3_600_000;
const maxFormBytes = 4_096;

const params = z.object({ orderId: z.string() });
const query = z.object({
  reference: z
    .string()
    .regex(/^[\w-]{1,64}$/)
    .optional(),
});
const form = z.object({
  token: z.string().default(""),
  number: z.string().default(""),
  expires: z.string().default(""),
  code: z.string().default(""),
});

/** Adds the page. */
export function serveCardPage(app: FastifyInstance, book: PaymentBook, merchant: Merchant): void {
  const tokens = new FormTokens();
  const formTargets = ["'self'", ...merchant.origins];

  const send = (reply: FastifyReply, status: number, title: string, body: Html) =>
    reply.code(status).headers(pageHeaders(formTargets)).send(htmlPage(title, body));
  const sendForm = (reply: FastifyReply, visit: Visit, invoice: Invoice, problem?: string) => {
    const status = problem === undefined ? 200 : 422;
    return send(
      reply,
      status,
      "Pay by card",
      cardForm(visit, invoice, tokens.make(visit), problem),
    );
  };
  const sendPaid = (reply: FastifyReply, { orderId, reference }: Visit) => {
    const shop = merchant.pageFor(reference);
    const back =
      shop === undefined ? undefined : html`<p><a href="${shop}">Back to the shop</a></p>`;
    const text = html`<p>The invoice of order ${orderId} is paid. Nothing was charged now.</p>${back}`;
    return send(reply, 200, "Already paid", text);
  };

  // A plugin of its own: what it adds is for these two routes, not for the JSON beside them.
  void app.register(async (pages) => {
    pages.addContentTypeParser(
      "application/x-www-form-urlencoded",
      { parseAs: "string", bodyLimit: maxFormBytes },
      (_request, body, done) => done(null, Object.fromEntries(new URLSearchParams(String(body)))),
    );
    pages.setErrorHandler((error, _request, reply) => {
      const [status, text] = refusalOf(error);
      return send(reply, status, "This did not work", html`<p>${text}</p>`);
    });

    pages.get("/pay/:orderId", (request, reply) => {
      const visit = visitOf(request);
      const invoice = invoiceOf(book, visit);
      return invoice.status === "paid" ? sendPaid(reply, visit) : sendForm(reply, visit, invoice);
    });

    pages.post("/pay/:orderId", async (request, reply) => {
      const visit = visitOf(request);
      const invoice = invoiceOf(book, visit);
      const { token, ...card } = form.parse(request.body ?? {});
      const isForeign = request.headers["sec-fetch-site"] === "cross-site";
      if (isForeign || !tokens.isFor(visit, token)) {
        return sendForm(reply, visit, invoice, "This form is too old. Nothing was charged.");
      }
      if (invoice.status === "paid") return sendPaid(reply, visit);

      const check = checkCard(card, new Date());
      if (check.outcome === "unusable") {
        return sendForm(reply, visit, invoice, `${check.problem} Nothing was charged.`);
      }
      if (check.outcome === "declined") {
        return sendForm(reply, visit, invoice, "The card was declined. Nothing was charged.");
      }
      const isCharged = await book.pay(visit.orderId, check.lastDigits, visit.reference);
      if (!isCharged) return sendPaid(reply, visit);

      void merchant.tell(visit.reference);
      const shop = merchant.pageFor(visit.reference);
      if (shop !== undefined) return reply.headers(pageHeaders()).redirect(shop, 303);
      const text = html`<p>${formatMoney(invoice)} for order ${visit.orderId} was charged.</p>`;
      return send(reply, 200, "Paid", text);
    });
  });
}

/** There is no such invoice. */
class NoInvoice extends Error {}

function visitOf(request: { readonly params: unknown; readonly query: unknown }): Visit {
  const { reference = null } = query.parse(request.query);
  return { orderId: params.parse(request.params).orderId, reference };
}

function invoiceOf(book: PaymentBook, { orderId }: Visit): Invoice {
  const invoice = book.invoices().find((each) => each.orderId === orderId);
  if (invoice === undefined) throw new NoInvoice();
  return invoice;
}

/** What a person is told; never what was sent, nor what broke inside. */
function refusalOf(error: unknown): readonly [status: number, text: string] {
  if (error instanceof NoInvoice) return [404, "There is no such invoice. Nothing was charged."];
  if (error instanceof z.ZodError)
    return [400, "This address is not complete. Nothing was charged."];
  const status: unknown = error instanceof Error ? Reflect.get(error, "statusCode") : undefined;
  if (typeof status === "number" && status < 500) return [status, "The form can't be read."];
  return [500, "Something broke. Open the page again to see whether the invoice is paid."];
}

function cardForm({ orderId }: Visit, invoice: Invoice, token: string, problem?: string): Html {
  const alert = problem === undefined ? undefined : html`<p role="alert">${problem}</p>`;
  return html`<p>Delivery of order ${orderId}: <strong>${formatMoney(invoice)}</strong></p>
${alert}
<form method="post" autocomplete="on">
<input type="hidden" name="token" value="${token}">
<label>Card number <input name="number" inputmode="numeric" autocomplete="cc-number" maxlength="23" required></label>
<label>Expires (MM/YY) <input name="expires" autocomplete="cc-exp" maxlength="7" required></label>
<label>Security code <input name="code" inputmode="numeric" autocomplete="cc-csc" maxlength="4" required></label>
<button>Pay ${formatMoney(invoice)}</button>
</form>
<p>A test service: no money moves. ${acceptedCard} is accepted, ${declinedCard} is declined; any expiry to come, any code.</p>`;
}

/** Tokens of forms: `<time>.<MAC>`, nothing is kept. */
class FormTokens {
  readonly #secret = randomBytes(32);

  make(visit: Visit, now = Date.now()): string {
    return `${now}.${this.#mac(visit, String(now)).toString("base64url")}`;
  }

  isFor(visit: Visit, token: string, now = Date.now()): boolean {
    const [made = "", mac = ""] = token.split(".");
    const given = Buffer.from(mac, "base64url");
    const right = this.#mac(visit, made);
    if (given.length !== right.length || !timingSafeEqual(given, right)) return false;
    return now - Number(made) <= formLifeMs;
  }

  #mac(visit: Visit, made: string): Buffer {
    const text = JSON.stringify([made, visit.orderId, visit.reference]);
    return createHmac("sha256", this.#secret).update(text).digest();
  }
}
