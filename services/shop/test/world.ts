/**
 * What the shop's tests share: a private outside world, and requests to it.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type OutsideWorld, startOutsideWorld } from "@reprise/shop";
import { onTestFinished } from "vitest";

/** A directory that goes away with the test. */
export async function temporaryDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), "shop-"));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  return directory;
}

/** An outside world on free ports, closed with the test; a text names its `dataDir`, which is a fresh one by default. */
export async function outsideWorld(
  given: string | { readonly dataDir?: string; readonly merchantUrl?: string } = {},
): Promise<OutsideWorld> {
  const options = typeof given === "string" ? { dataDir: given } : given;
  const dataDir = options.dataDir ?? (await temporaryDirectory());
  const world = await startOutsideWorld({ port: 0, smtpPort: 0, ...options, dataDir });
  let closed: Promise<void> | undefined;
  const close = () => {
    closed ??= world.close();
    return closed;
  };
  onTestFinished(close);
  return { ...world, close };
}

/** The JSON array at a path of the outside world. */
export async function list<T = unknown>(url: string, path: string): Promise<T[]> {
  return json<T[]>(await fetch(new URL(path, url)));
}

/** The body of a response, taken to be what the caller of a test expects and then compared. */
export async function json<T = unknown>(response: Response): Promise<T> {
  const body: unknown = await response.json();
  return body as T;
}

/** POSTs JSON, with an idempotency key if there is one. */
export function post(url: string, path: string, body: unknown, key?: string): Promise<Response> {
  return fetch(new URL(path, url), {
    method: "POST",
    headers: {
      "content-type": "application/json",
      ...(key === undefined ? {} : { "idempotency-key": key }),
    },
    body: JSON.stringify(body),
  });
}

/** A refund of order 1001 in full. */
export const refundOf1001 = { orderId: "1001", amount: 4990, currency: "EUR" };
