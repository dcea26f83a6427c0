/**
 * The shop's own web page: where the payment service tells that somebody paid, and where it sends people afterwards.
 *
 * It completes the questions of `pay_invoice` (`server.elicitations`), so that it may stand in any process that serves the
 * shop, whichever of them asked or waits.
 *
 * 1. What a request says is a reference to look up: whether it is paid, and by which payment, is asked of the payment
 *    service.
 * 2. A question is completed for the person who visits. The payment service is no person: its notices complete only
 *    where nobody can be told from anybody.
 * 3. A reference that is unknown, unpaid, over or another person's gets one and the same page.
 * 4. A notice or a visit may come twice; the second changes nothing.
 */
import { type FastifyInstance, type FastifyReply, type FastifyRequest, fastify } from "fastify";
import { isRepriseError, RepriseError, type Server } from "reprise";
import * as z from "zod";
import { type Html, html, htmlPage, pageHeaders } from "../html.ts";
import { formatMoney } from "../money.ts";
import type { Payments } from "../payments/client.ts";
import type { Payment } from "../payments/model.ts";
import { serveHost } from "./hostPage.ts";

/** Where the page listens. */
export interface PageOptions {
  /** Default `127.0.0.1`. */
  readonly host?: string;
  /** 0 takes a free one. */
  readonly port: number;
  /**
   * Who makes a request, as `ctx.caller.person` has it; undefined for nobody in particular. Default: everybody is
   * `anonymous`, as for a shop without sign-in. One with sign-in reads its session here.
   */
  readonly personOf?: (request: FastifyRequest) => string | undefined;
  /** The process may end while the page is open: nobody will close it. Default false. */
  readonly endsWithProcess?: boolean;
}

/** What the page stands before. */
export interface PageShop {
  /** Must be served in this process. */
  readonly server: Server;
  readonly payments: Payments;
  /** MCP as a person's browser reaches it. Given, the page has a host in the browser at `host/`. */
  readonly mcpUrl?: string;
}

/** A page that listens. */
export interface ShopPage {
  /** Ends in `/`. What the payment service has to be told. */
  readonly url: string;
  /** Opens it for `shop`; until then it answers 503, which the payment service tries again. */
  serve(shop: PageShop): void;
  close(): Promise<void>;
}

const maxNoticeBytes = 4_096;
const reference = z.object({ reference: z.string().regex(/^[\w-]{1,64}$/) });

/** Listens. @throws RepriseError PORT_IN_USE */
export async function openShopPage(options: PageOptions): Promise<ShopPage> {
  const {
    host = "127.0.0.1",
    port,
    personOf = () => "anonymous",
    endsWithProcess = false,
  } = options;
  let shop: PageShop | undefined;
  const app = fastify({ bodyLimit: maxNoticeBytes, forceCloseConnections: true });
  addRoutes(app, personOf, () => shop);
  serveHost(app, () => shop?.mcpUrl);
  try {
    const url = await app.listen({ host, port });
    if (endsWithProcess) app.server.unref();
    return {
      url: new URL("/", url).href,
      serve: (opened) => {
        shop = opened;
      },
      close: () => app.close(),
    };
  } catch (error) {
    await app.close();
    const isTaken = error instanceof Error && "code" in error && error.code === "EADDRINUSE";
    if (!isTaken) throw error;
    throw new RepriseError("PORT_IN_USE", `SHOP_PAGE_PORT is taken: ${error.message}`);
  }
}

/** The shop is not there: nothing was decided, and the same request may succeed later. */
class Unavailable extends Error {}

function addRoutes(
  app: FastifyInstance,
  personOf: NonNullable<PageOptions["personOf"]>,
  shopNow: () => PageShop | undefined,
): void {
  const told = async (request: FastifyRequest, given: unknown): Promise<Payment | undefined> => {
    const shop = shopNow();
    if (shop === undefined) throw new Unavailable("the shop is not open yet");
    const wanted = reference.safeParse(given);
    const person = personOf(request);
    if (!wanted.success || person === undefined) return undefined;
    return tell(shop, wanted.data.reference, person);
  };

  // A connection that is kept would hold up an end that nobody announces.
  app.addHook("onRequest", async (_request, reply) => {
    reply.header("connection", "close");
  });
  app.setErrorHandler((error, _request, reply) => {
    const status: unknown = error instanceof Error ? Reflect.get(error, "statusCode") : undefined;
    if (typeof status === "number" && status < 500) {
      return send(reply, status, "This did not work", html`<p>The request can't be read.</p>`);
    }
    // Whatever broke is of no use to who visits, and may hold what is not theirs.
    const text = html`<p>The shop can't tell right now. Load this page again in a moment.</p>`;
    return send(reply.header("retry-after", "1"), 503, "One moment", text);
  });
  app.setNotFoundHandler((_request, reply) => sendNothing(reply));

  app.post("/notices", async (request, reply) => {
    const payment = await told(request, request.body);
    return reply.code(payment === undefined ? 404 : 204).send();
  });
  app.get("/paid/:reference", async (request, reply) => {
    const payment = await told(request, request.params);
    if (payment === undefined) return sendNothing(reply);
    const text = html`<p>We have received ${formatMoney(payment)} for the delivery of order ${payment.orderId}.</p>
<p>Go back to where you were asked, and say that you are done.</p>`;
    return send(reply, 200, "Thank you", text);
  });
}

/**
 * Completes the question that the payment with this reference answers, unless that is done.
 * Undefined when there is nothing that this person's visit could be about.
 */
async function tell(
  { server, payments }: PageShop,
  id: string,
  person: string,
): Promise<Payment | undefined> {
  const payment = await payments.paymentWith(id);
  if (payment?.reference !== id) return undefined;
  try {
    const data = { paymentId: payment.id };
    await server.elicitations.complete(id, { principal: person, data });
    return payment;
  } catch (error) {
    if (isRepriseError(error, "ELICITATION_REFUSED")) return undefined;
    throw error;
  }
}

function sendNothing(reply: FastifyReply): FastifyReply {
  const text = html`<p>Nothing waits for this page: it may be over, or not yours. What was paid stays paid.</p>`;
  return send(reply, 404, "Nothing here", text);
}

function send(reply: FastifyReply, status: number, title: string, body: Html): FastifyReply {
  return reply.code(status).headers(pageHeaders()).send(htmlPage(title, body));
}
