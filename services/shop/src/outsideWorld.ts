/**
 * Everything that the shop does not own, in one process: the payment service and the mail server.
 *
 * It knows nothing of MCP or Reprise and shares no memory with them, so what it counted is evidence.
 */
import { join } from "node:path";
import { fastify } from "fastify";
import * as z from "zod";
import { MailServer } from "./mail/server.ts";
import { PaymentBook } from "./payments/book.ts";
import { Faults } from "./payments/faults.ts";
import { servePayments } from "./payments/service.ts";

/** Where the outside world listens (loopback only; 0 takes a free port) and where it keeps its facts. */
export interface OutsideOptions {
  readonly port: number;
  readonly smtpPort: number;
  readonly dataDir: string;
}

/** Where the outside world is. */
export interface OutsideAddress {
  /** Payment service, mail log and faults. */
  readonly url: string;
  readonly smtpPort: number;
}

/** An outside world that runs in this process. */
export interface OutsideWorld extends OutsideAddress {
  close(): Promise<void>;
}

const mailLookup = z.object({ idempotencyKey: z.string().optional() });

/** Opens both ledgers and listens. @throws the error of listen, with `code` `EADDRINUSE` for a busy port */
export async function startOutsideWorld(options: OutsideOptions): Promise<OutsideWorld> {
  const faults = new Faults();
  const book = await PaymentBook.open(join(options.dataDir, "payments.jsonl"));
  const mail = await MailServer.open(join(options.dataDir, "mails.jsonl"), faults);
  const app = fastify({ forceCloseConnections: true });
  servePayments(app, book, faults);
  app.get("/mails", ({ query }) => {
    const { idempotencyKey } = mailLookup.parse(query);
    if (idempotencyKey === undefined) return mail.mails();
    return mail.mails().filter((accepted) => accepted.idempotencyKey === idempotencyKey);
  });

  const close = async () => {
    await app.close();
    await mail.close();
    await book.close();
  };
  try {
    const url = await app.listen({ port: options.port, host: "127.0.0.1" });
    return { url, smtpPort: await mail.listen(options.smtpPort), close };
  } catch (error) {
    await close();
    throw error;
  }
}
