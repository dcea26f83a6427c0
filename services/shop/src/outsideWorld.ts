/**
 * Everything that the shop does not own, in one process: the payment service and the mail server.
 *
 * It knows nothing of MCP or Reprise and shares no memory with them, so what it counted is evidence.
 */
import { join } from "node:path";
import { type FastifyInstance, fastify } from "fastify";
import * as z from "zod";
import { lockDirectory } from "./directoryLock.ts";
import { MailServer } from "./mail/server.ts";
import { PaymentBook } from "./payments/book.ts";
import { Faults } from "./payments/faults.ts";
import { Merchant } from "./payments/merchant.ts";
import { servePayments } from "./payments/service.ts";

/** Where the outside world listens (0 takes a free port) and where it keeps its facts. */
export interface OutsideOptions {
  /** Default `127.0.0.1`. It trusts whoever calls, so another address is for a network of containers only. */
  readonly host?: string;
  readonly port: number;
  readonly smtpPort: number;
  readonly dataDir: string;
  /**
   * Where the shop's own page is, ending in `/`: told of card payments, and where the card page sends people afterwards.
   * Default: nobody is told, and people stay on the card page.
   */
  readonly merchantUrl?: string;
  /** The same page as this process reaches it. Default `merchantUrl`. */
  readonly noticesUrl?: string;
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

/** As long as a shop's question stays open by default. */
const toldAgainMs = 24 * 3_600_000;

const mailLookup = z.object({ idempotencyKey: z.string().optional() });

/**
 * Opens both ledgers and listens.
 * @throws Error when another outside world has the directory; the error of listen, `EADDRINUSE` for a busy port
 */
export async function startOutsideWorld(options: OutsideOptions): Promise<OutsideWorld> {
  const { host = "127.0.0.1", port, smtpPort, dataDir, merchantUrl, noticesUrl } = options;
  // Undone in reverse order, so what listens closes before what it writes to.
  const opened: (() => Promise<void>)[] = [await lockDirectory(dataDir)];
  const close = async () => {
    for (const undo of opened.splice(0).reverse()) await undo();
  };
  try {
    const faults = new Faults();
    const book = await PaymentBook.open(join(dataDir, "payments.jsonl"));
    opened.push(() => book.close());
    const mail = await MailServer.open(join(dataDir, "mails.jsonl"), faults);
    opened.push(() => mail.close());
    const app = fastify({ forceCloseConnections: true });
    opened.push(() => app.close());
    const merchant = new Merchant(merchantUrl, noticesUrl);
    servePayments(app, book, faults, merchant);
    serveMailLog(app, mail);

    const url = await app.listen({ port, host });
    const address = { url, smtpPort: await mail.listen(smtpPort, host) };
    tellAgain(book, merchant);
    return { ...address, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** A notice may have been on its way when the last process ended; the shop takes one as often as it comes. */
function tellAgain(book: PaymentBook, merchant: Merchant): void {
  const since = Date.now() - toldAgainMs;
  for (const { at, reference } of book.payments()) {
    if (Date.parse(at) >= since) void merchant.tell(reference);
  }
}

function serveMailLog(app: FastifyInstance, mail: MailServer): void {
  app.get("/mails", ({ query }) => {
    const { idempotencyKey } = mailLookup.parse(query);
    if (idempotencyKey === undefined) return mail.mails();
    return mail.mails().filter((accepted) => accepted.idempotencyKey === idempotencyKey);
  });
}
