/**
 * The shop as `npm start` runs it, on free ports and a fresh data directory, and what stands in its books.
 *
 * The books are read over HTTP from the payment service and the mail log: processes that know nothing of Reprise.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import type { AcceptedMail, Booking, Charge, Order, Payment, Refund } from "@reprise/shop";
import { fromSource, startNode } from "./childProcess.ts";

/** A running shop. */
export interface ShopProcess {
  /** The MCP endpoint. */
  readonly url: string;
  /** Origin of payment service, mail log and faults. */
  readonly outside: string;
  readonly scratchDir: string;
  refunds(orderId: string): Promise<readonly Refund[]>;
  bookings(city: string): Promise<readonly Booking[]>;
  orders(): Promise<readonly Order[]>;
  /** What was paid of an order's invoice, by card. */
  payments(orderId: string): Promise<readonly Payment[]>;
  charges(): Promise<readonly Charge[]>;
  /** Mails to an address; all without one. */
  mails(to?: string): Promise<readonly AcceptedMail[]>;
  /** Adds faults to the outside world. */
  break(...faults: readonly object[]): Promise<void>;
  /** Ends all faults. */
  mend(): Promise<void>;
  /** Ends it in an orderly way and removes its data. */
  stop(): Promise<void>;
  /** SIGKILL; resolves when the outside world, which ends with it, is gone too. Its data stay. */
  kill(): Promise<void>;
  /** All that it printed so far. */
  printed(): string;
}

/**
 * Starts services/shop/src/main.ts the way infra/scripts/start.mjs does; without `folder` on data of its own. `ports`,
 * `PORT` and the like, by default free ones.
 */
export async function startShop(
  folder?: string,
  ports: Readonly<Record<string, string>> = {},
): Promise<ShopProcess> {
  const data = folder ?? (await mkdtemp(path.join(tmpdir(), "reprise-shop-")));
  const child = startNode([...fromSource, "services/shop/src/main.ts"], {
    PORT: "0",
    SHOP_PORT: "0",
    SHOP_PAGE_PORT: "0",
    REPRISE_DATA: data,
    ...ports,
  });
  const kill = async (): Promise<void> => {
    // The outside world shares its stderr, so that this is over when both are gone.
    await child.stop("SIGKILL");
  };
  const printed = (): string => Object.values(child.printed()).join("");
  const stop = async (): Promise<void> => {
    const { code, stderr } = await child.stop();
    await rm(data, { recursive: true, force: true });
    if (code !== 0) throw new Error(`the shop ended with ${code}\n${stderr}`);
  };
  try {
    const [, url = ""] = await child.line(/^ {2}MCP +(\S+)/);
    const [, outside = ""] = await child.line(/^ {2}payments +(\S+)/);
    const [, scratchDir = ""] = await child.line(/^ {2}scratch +(\S+)/);
    return { url, outside, scratchDir, stop, kill, printed, ...shopBooks(outside) };
  } catch (error) {
    await child.stop("SIGKILL");
    await rm(data, { recursive: true, force: true });
    throw error;
  }
}

/** What stands in the books of the outside world, and its faults. */
export type ShopBooks = Omit<
  ShopProcess,
  "url" | "outside" | "scratchDir" | "stop" | "kill" | "printed"
>;

/** Those of an outside world wherever it runs. */
export function shopBooks(outside: string): ShopBooks {
  const read = async <T>(what: string): Promise<readonly T[]> => {
    const response = await fetch(new URL(what, outside));
    if (!response.ok) throw new Error(`${what} answered ${response.status}`);
    return (await response.json()) as T[];
  };
  const tell = async (faults: unknown): Promise<void> => {
    const response = await fetch(new URL("/faults", outside), {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(faults),
    });
    if (!response.ok) throw new Error(`/faults answered ${response.status}`);
  };
  return {
    refunds: (orderId) => read<Refund>(`/refunds?orderId=${orderId}`),
    bookings: async (city) =>
      (await read<Booking>("/bookings")).filter((booking) => booking.city === city),
    orders: () => read<Order>("/orders"),
    payments: (orderId) => read<Payment>(`/payments?orderId=${orderId}`),
    charges: () => read<Charge>("/charges"),
    mails: async (to) =>
      (await read<AcceptedMail>("/mails")).filter(
        (mail) => to === undefined || mail.to.includes(to),
      ),
    break: (...faults) => tell(faults),
    mend: () => tell({ kind: "none" }),
  };
}
