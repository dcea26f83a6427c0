/**
 * The payment service as a fastify plugin: what a payment provider's HTTP interface looks like from outside.
 * It knows nothing of MCP or Reprise. `Idempotency-Key` on a POST makes repetitions safe (book.ts).
 */
import type { FastifyInstance, FastifyRequest } from "fastify";
import * as z from "zod";
import {
  AlreadyBilled,
  bookingRequest,
  type Call,
  cancellationRequest,
  invoiceRequest,
  KeyReused,
  type PaymentBook,
  refundRequest,
} from "./book.ts";
import { breakRequests } from "./breaking.ts";
import { serveCardPage } from "./cardPage.ts";
import type { Faults } from "./faults.ts";
import type { Merchant } from "./merchant.ts";
import type { Trip } from "./model.ts";
import { fullCities, quoteTrip } from "./quotes.ts";

const trip: z.ZodType<Trip> = z.object({
  city: z.string().min(1),
  departure: z.iso.date(),
  nights: z.coerce.number().int().positive(),
  travelClass: z.enum(["economy", "business"]),
  hotelStars: z.enum(["3", "4", "5"]),
});
const lookup = z.object({
  orderId: z.string().optional(),
  idempotencyKey: z.string().optional(),
  reference: z.string().optional(),
  bookingId: z.string().optional(),
});

/** Adds the routes of `book`, each of which `faults` can break. */
export function servePayments(
  app: FastifyInstance,
  book: PaymentBook,
  faults: Faults,
  merchant: Merchant,
): void {
  const hitOf = breakRequests(app, faults);
  const call = (request: FastifyRequest): Call => ({
    idempotencyKey: header(request, "idempotency-key"),
    ignoreKeys: hitOf(request)?.ignoreKeys ?? false,
  });

  app.setErrorHandler((error, _request, reply) => {
    return reply.code(statusOf(error)).send({ error: messageOf(error) });
  });

  app.get("/orders", () => book.orders());
  app.get<{ Params: { id: string } }>("/orders/:id", ({ params }, reply) => {
    const order = book.orders().find(({ id }) => id === params.id);
    return order ?? reply.code(404).send({ error: `there is no order ${params.id}` });
  });
  app.get("/invoices", () => book.invoices());
  app.get<{ Params: { orderId: string } }>("/invoices/:orderId", ({ params }, reply) => {
    const invoice = book.invoices().find(({ orderId }) => orderId === params.orderId);
    return invoice ?? reply.code(404).send({ error: `order ${params.orderId} has no invoice` });
  });
  app.post("/invoices", async (request, reply) => {
    const wanted = invoiceRequest.parse(request.body);
    await book.bill(wanted, call(request));
    return reply.code(201).send(book.invoices().find(({ orderId }) => orderId === wanted.orderId));
  });
  app.get("/payments", ({ query }) => matching(book.payments(), query));
  app.get<{ Params: { id: string } }>("/payments/:id", ({ params }, reply) => {
    const payment = book.payments().find(({ id }) => id === params.id);
    return payment ?? reply.code(404).send({ error: `there is no payment ${params.id}` });
  });
  app.get("/charges", () => book.charges());
  app.get("/quotes", ({ query }) => quoteTrip(trip.parse(query)));

  app.get("/refunds", ({ query }) => matching(book.refunds(), query));
  app.post("/refunds", async (request, reply) => {
    const refund = await book.refund(refundRequest.parse(request.body), call(request));
    return reply.code(201).send(refund);
  });
  app.get("/bookings", ({ query }) => matching(book.bookings(), query));
  app.post("/bookings", async (request, reply) => {
    const wanted = bookingRequest.parse(request.body);
    if (wanted.kind === "hotel" && fullCities.includes(wanted.city)) {
      return reply.code(422).send({ error: `no hotel has a room in ${wanted.city}` });
    }
    const booking = await book.book(wanted, call(request));
    return reply.code(201).send(booking);
  });
  app.get("/cancellations", ({ query }) => matching(book.cancellations(), query));
  app.post("/cancellations", async (request, reply) => {
    const wanted = cancellationRequest.parse(request.body);
    if (!book.bookings().some(({ id }) => id === wanted.bookingId)) {
      return reply.code(422).send({ error: `there is no booking ${wanted.bookingId}` });
    }
    return reply.code(201).send(await book.cancel(wanted, call(request)));
  });
  serveCardPage(app, book, merchant);
}

function statusOf(error: unknown): number {
  if (error instanceof z.ZodError) return 400;
  if (error instanceof KeyReused || error instanceof AlreadyBilled) return 409;
  // Fastify's own refusals (a body that is no JSON, too large) know their status.
  const status = error instanceof Error ? Reflect.get(error, "statusCode") : undefined;
  return typeof status === "number" ? status : 500;
}

function messageOf(error: unknown): string {
  if (error instanceof z.ZodError) return z.prettifyError(error);
  return error instanceof Error ? error.message : "failed";
}

/** The facts that have what the query names. */
function matching<T extends object>(facts: readonly T[], query: unknown): T[] {
  const wanted = Object.entries(lookup.parse(query));
  return facts.filter((fact) => wanted.every(([name, value]) => Reflect.get(fact, name) === value));
}

function header(request: FastifyRequest, name: string): string | null {
  const value = request.headers[name];
  return typeof value === "string" ? value : null;
}
