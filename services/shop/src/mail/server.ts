/**
 * An SMTP server that keeps every message it accepts and never sends one on.
 *
 * 1. A message is on disk (fsync) before the client reads `250`.
 * 2. Nothing is deduplicated: two messages with one Message-ID are two messages, as with any mail server. Whoever
 *    must not send twice has to ask the log first (`GET /mails?idempotencyKey=...`).
 */
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { setTimeout as wait } from "node:timers/promises";
import { type ParsedMail, simpleParser } from "mailparser";
import { SMTPServer, type SMTPServerDataStream, type SMTPServerSession } from "smtp-server";
import * as z from "zod";
import { AppendLog } from "../appendLog.ts";
import type { Fault, Faults } from "../payments/faults.ts";
import { idempotencyHeader } from "./idempotencyHeader.ts";

/** A message that was accepted. */
export interface AcceptedMail {
  readonly id: string;
  /** ISO time of its entry in the log. */
  readonly at: string;
  readonly from: string;
  /** Envelope recipients. */
  readonly to: readonly string[];
  readonly subject: string;
  readonly messageId: string | null;
  readonly idempotencyKey: string | null;
  readonly text: string;
}

const acceptedMail: z.ZodType<AcceptedMail> = z.strictObject({
  id: z.string(),
  at: z.string(),
  from: z.string(),
  to: z.array(z.string()),
  subject: z.string(),
  messageId: z.string().nullable(),
  idempotencyKey: z.string().nullable(),
  text: z.string(),
});

const maxMessageBytes = 1024 * 1024;

/** The SMTP server and its log. */
export class MailServer {
  readonly #log: AppendLog<AcceptedMail>;
  readonly #mails: AcceptedMail[];
  readonly #faults: Faults;
  readonly #smtp: SMTPServer;
  #lastNumber: number;

  private constructor(log: AppendLog<AcceptedMail>, mails: AcceptedMail[], faults: Faults) {
    this.#log = log;
    this.#mails = mails;
    this.#faults = faults;
    this.#lastNumber = mails.length;
    this.#smtp = new SMTPServer({
      name: "mail.shop.example.com",
      disabledCommands: ["AUTH", "STARTTLS"],
      disableReverseLookup: true,
      size: maxMessageBytes,
      closeTimeout: 1000,
      onData: (stream, session, reply) => void this.#receive(stream, session, reply),
    });
    // A client that goes away in the middle of a message is its own trouble, not the server's.
    this.#smtp.on("error", () => undefined);
  }

  /** Opens the log, or begins an empty one. Nothing listens yet. */
  static async open(path: string, faults: Faults): Promise<MailServer> {
    const { log, entries } = await AppendLog.open(path, (value) => acceptedMail.parse(value));
    return new MailServer(log, entries, faults);
  }

  /** Listens on an address; 0 takes a free port. Gives the port. */
  async listen(port: number, host: string): Promise<number> {
    const server = this.#smtp.listen(port, host);
    await once(server, "listening");
    return (server.address() as AddressInfo).port;
  }

  /** What was accepted, in this order. */
  mails(): readonly AcceptedMail[] {
    return this.#mails;
  }

  /** Stops listening, gives open connections a second, waits for what is being written. */
  async close(): Promise<void> {
    await new Promise<void>((resolve) => this.#smtp.close(resolve));
    await this.#log.close();
  }

  /** Replies 250 once the message is kept; an error is what the client reads instead. */
  async #receive(
    stream: SMTPServerDataStream,
    session: SMTPServerSession,
    reply: (refused: Error | null, accepted?: string) => void,
  ): Promise<void> {
    try {
      const raw = await buffer(stream);
      if (stream.sizeExceeded) throw refusal(552, `more than ${maxMessageBytes} bytes`);
      const hit = this.#faults.take("POST", "/mails");
      for (const fault of hit.before) {
        if (fault.kind === "fail" || fault.kind === "outage") throw refusal(451, "out of order");
        await this.#suffer(fault, session);
      }
      const { id } = await this.#keep(await simpleParser(raw), session);
      for (const fault of hit.after) await this.#suffer(fault, session);
      reply(null, `kept as ${id}`);
    } catch (error) {
      reply(error instanceof Error ? error : refusal(451, "failed"));
    }
  }

  async #keep(parsed: ParsedMail, session: SMTPServerSession): Promise<AcceptedMail> {
    this.#lastNumber += 1;
    const mail = describe(`mail-${this.#lastNumber}`, parsed, session);
    await this.#log.append(mail);
    this.#mails.push(mail);
    return mail;
  }

  /** SMTP can't say no to a message that it has accepted, so a failure after that is a lost reply too. */
  async #suffer(fault: Fault, session: SMTPServerSession): Promise<void> {
    if (fault.kind === "delay") await wait(fault.ms);
    if (fault.kind !== "drop" && fault.kind !== "fail") return;
    for (const connection of this.#smtp.connections) {
      if (connection.id === session.id) connection.close();
    }
    throw refusal(421, "dropped");
  }
}

function describe(id: string, parsed: ParsedMail, { envelope }: SMTPServerSession): AcceptedMail {
  const key = parsed.headers.get(idempotencyHeader.toLowerCase());
  return {
    id,
    at: new Date().toISOString(),
    from: envelope.mailFrom === false ? "" : envelope.mailFrom.address,
    to: envelope.rcptTo.map(({ address }) => address),
    subject: parsed.subject ?? "",
    messageId: parsed.messageId ?? null,
    idempotencyKey: typeof key === "string" ? key : null,
    text: parsed.text ?? "",
  };
}

/** smtp-server replies with an error's `responseCode`. */
function refusal(responseCode: number, message: string): Error {
  return Object.assign(new Error(message), { responseCode });
}
