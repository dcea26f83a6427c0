/**
 * How the shop writes to its customers: SMTP to send, the mail server's log to find what was sent.
 *
 * SMTP has no idempotency keys, so a connection that breaks after the message leaves nobody knowing. The key goes
 * along as Message-ID, and `find` asks the log for it: that is what a step's `onUncertain` is for.
 */
import { createTransport } from "nodemailer";
import { notDone } from "reprise";
import * as z from "zod";
import type { Order, Payment, Refund } from "../payments/model.ts";
import { idempotencyHeader } from "./idempotencyHeader.ts";
import {
  invoiceLetter,
  type Language,
  type Letter,
  paymentLetter,
  receiptLetter,
} from "./letters.ts";

/** What is known of an e-mail that was accepted. */
export interface Delivery {
  readonly messageId: string;
  readonly to: string;
}

/** What the tools need of e-mail. */
export interface Mail {
  /** Tells the customer about a refund. */
  receipt(order: Order, refund: Refund, idempotencyKey: string): Promise<Delivery>;
  /** Tells the customer that an invoice was paid. */
  paymentReceipt(order: Order, payment: Payment, idempotencyKey: string): Promise<Delivery>;
  /** Sends an order's invoice to any address. */
  invoice(
    order: Order,
    to: { readonly address: string; readonly language: Language },
    idempotencyKey: string,
  ): Promise<Delivery>;
  /** The e-mail that was sent with this key, if the server has it. */
  find(idempotencyKey: string): Promise<Delivery | undefined>;
}

/** Where the mail server is. */
export interface MailAddress {
  /** Default `127.0.0.1`. */
  readonly smtpHost?: string;
  readonly smtpPort: number;
  /** Base URL of its log, for example `http://127.0.0.1:3001`. */
  readonly logUrl: string;
}

const foundMails = z.array(z.object({ messageId: z.string(), to: z.array(z.string()) }));
const patienceMs = 10_000;

/** A Mail for the server at `address`; connects for each message, holds nothing open. */
export function createMail({ smtpHost = "127.0.0.1", smtpPort, logUrl }: MailAddress): Mail {
  const transport = createTransport({
    host: smtpHost,
    port: smtpPort,
    ignoreTLS: true,
    connectionTimeout: patienceMs,
    greetingTimeout: patienceMs,
    socketTimeout: patienceMs,
  });

  async function send(to: string, letter: Letter, idempotencyKey: string): Promise<Delivery> {
    const messageId = `<${idempotencyKey}@shop.example.com>`;
    const from = "Reprise Shop <shop@example.com>";
    const headers = { [idempotencyHeader]: idempotencyKey };
    try {
      await transport.sendMail({ from, to, ...letter, messageId, headers });
    } catch (error) {
      throw wasNotAccepted(error) ? notDone(error) : error;
    }
    return { messageId, to };
  }

  return {
    receipt: (order, refund, key) => send(order.email, receiptLetter(order, refund), key),
    paymentReceipt: (order, payment, key) => send(order.email, paymentLetter(order, payment), key),
    invoice: (order, { address, language }, key) =>
      send(address, invoiceLetter(order, language), key),
    async find(idempotencyKey) {
      const url = new URL("/mails", logUrl);
      url.searchParams.set("idempotencyKey", idempotencyKey);
      const response = await fetch(url, { signal: AbortSignal.timeout(patienceMs) });
      if (!response.ok) throw new Error(`the mail log answered ${response.status}`);
      const [mail] = foundMails.parse(await response.json());
      return mail && { messageId: mail.messageId, to: mail.to.join(", ") };
    },
  };
}

/** Certain only when nobody was there, or when the server said no; 421 speaks of the connection, not the message. */
function wasNotAccepted(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const reply: unknown = Reflect.get(error, "responseCode");
  if (typeof reply === "number") return reply >= 400 && reply !== 421;
  return error.message.includes("ECONNREFUSED");
}
