/**
 * The shop's own page: it believes the payment service alone, completes for the person who visits, and tells nobody else
 * anything. Between a real payment service and a server that is served for real.
 */
import {
  createMail,
  createPayments,
  createShop,
  type OutsideWorld,
  openShopPage,
  type PageOptions,
  type Payment,
  type ShopPage,
} from "@reprise/shop";
import { type ServedServer, serve } from "reprise";
import { describe, expect, onTestFinished, test } from "vitest";
import { payByCard, visit } from "../../../test/support/cardPage.ts";
import { json, list, outsideWorld, post, temporaryDirectory } from "./world.ts";

interface Open {
  readonly page: ShopPage;
  readonly world: OutsideWorld;
  readonly served: ServedServer;
}

async function openShop(options: Partial<PageOptions> = {}): Promise<Open> {
  const page = await openShopPage({ port: 0, ...options });
  onTestFinished(() => page.close());
  const world = await outsideWorld({ merchantUrl: page.url });
  return { page, world, served: await serveShop(page, world) };
}

async function serveShop(page: ShopPage, world: OutsideWorld): Promise<ServedServer> {
  const payments = createPayments(world.url);
  const mail = createMail({ smtpPort: world.smtpPort, logUrl: world.url });
  const scratchDir = await temporaryDirectory();
  const server = createShop({ payments, mail, scratchDir });
  const served = await serve(server, { port: 0, dataDir: await temporaryDirectory() });
  onTestFinished(() => served.close());
  page.serve({ server, payments });
  return served;
}

/** Calls `pay_invoice` for order 1001 and gives the card page that its question leads to. */
async function asked({ served }: Pick<Open, "served">): Promise<string> {
  const version = "2026-07-28";
  const meta = {
    "io.modelcontextprotocol/protocolVersion": version,
    "io.modelcontextprotocol/clientCapabilities": { elicitation: { url: {} } },
  };
  const params = { name: "pay_invoice", arguments: { orderId: "1001" }, _meta: meta };
  const response = await fetch(served.url, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      "mcp-protocol-version": version,
      "mcp-method": "tools/call",
      "mcp-name": "pay_invoice",
    },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params }),
  });
  const { result } = await json<{
    result: { inputRequests: { elicitUrl: { params: { url: string } } } };
  }>(response);
  return result.inputRequests.elicitUrl.params.url;
}

const referenceIn = (url: string): string => new URL(url).searchParams.get("reference") ?? "";

/** Completes by hand: false when somebody did already. */
const completes = ({ served }: Pick<Open, "served">, id: string): Promise<boolean> =>
  served.runtime.elicitations.complete(id, { principal: "anonymous" });

test("a payment completes its question, and a second visit changes nothing", async () => {
  const shop = await openShop();
  const url = await asked(shop);
  const thanks = await payByCard(url);
  expect(thanks.url).toBe(`${shop.page.url}paid/${referenceIn(url)}`);
  expect(thanks.html).toContain("We have received €4.90 for the delivery of order 1001.");
  expect(await completes(shop, referenceIn(url))).toBe(false);
  expect((await visit(thanks.url)).html).toBe(thanks.html);
});

describe("nothing is believed of a request", () => {
  test("a question whose invoice is not paid is not completed, whatever a notice or an address says", async () => {
    const shop = await openShop();
    const reference = referenceIn(await asked(shop));
    const notice = { reference, paymentId: "payment-1", status: "paid" };
    expect((await post(shop.page.url, "/notices", notice)).status).toBe(404);
    const page = await visit(`${shop.page.url}paid/${reference}?paymentId=payment-1&status=paid`);
    expect(page.status).toBe(404);
    expect(await completes(shop, reference)).toBe(true);
  });

  test("unknown, unpaid, over and malformed references get one and the same page", async () => {
    const shop = await openShop();
    const unpaid = referenceIn(await asked(shop));
    // Paid, but no question of this shop.
    await payByCard(`${shop.world.url}/pay/1002?reference=not_of_this_shop_0123456789`);
    const paths = [
      "unknown",
      unpaid,
      "not_of_this_shop_0123456789",
      "%3Cb%3E",
      "..%2F..",
      "a".repeat(90),
    ];
    const pages = await Promise.all(paths.map((path) => visit(`${shop.page.url}paid/${path}`)));
    expect(new Set(pages.map(({ status }) => status))).toEqual(new Set([404]));
    expect(new Set(pages.map(({ html }) => html)).size).toBe(1);
    expect(pages[0]?.html).toContain("Nothing waits for this page");
    expect(pages[0]?.html).not.toMatch(/1002|7\.90/);
  });

  test.each([
    ["no JSON", "{", "application/json", 400],
    ["another type", "a=b", "text/csv", 415],
    ["nothing of use", "[]", "application/json", 404],
    ["too much", JSON.stringify({ reference: "a".repeat(5_000) }), "application/json", 413],
  ])("a notice with %s completes nothing", async (_, body, type, status) => {
    const { page } = await openShop();
    const headers = { "content-type": type };
    const response = await fetch(`${page.url}notices`, { method: "POST", headers, body });
    expect(response.status).toBe(status);
  });
});

describe("a shop with sign-in", () => {
  /** Who visits stands in a header here; without one it is nobody in particular. */
  const personOf: NonNullable<PageOptions["personOf"]> = ({ headers }) => {
    const person = headers["x-person"];
    return typeof person === "string" ? person : undefined;
  };
  const visitAs = (url: string, person: string) => fetch(url, { headers: { "x-person": person } });

  test("completes for the visit of the person who was asked, and for no other and no notice", async () => {
    const shop = await openShop({ personOf });
    const url = await asked(shop);
    // The payment service's notice and the browser without a session are nobody.
    const anybody = await payByCard(url);
    expect(anybody.status).toBe(404);
    const mallory = await visitAs(anybody.url, "mallory");
    expect(mallory.status).toBe(404);
    expect(await mallory.text()).toBe(anybody.html);
    expect((await visitAs(anybody.url, "anonymous")).status).toBe(200);
    expect(await completes(shop, referenceIn(url))).toBe(false);
  });
});

describe("a shop that is away when somebody pays", () => {
  test("says so, charges once, and hears of it when it is back", async () => {
    const page = await openShopPage({ port: 0 });
    onTestFinished(() => page.close());
    const dataDir = await temporaryDirectory();
    const before = await outsideWorld({ merchantUrl: page.url, dataDir });
    const served = await serveShop(page, before);
    const url = await asked({ served });
    const reference = referenceIn(url);
    await page.close();
    await expect(payByCard(url)).rejects.toThrow("fetch failed");
    await before.close();

    const { port } = new URL(page.url);
    const again = await openShopPage({ port: Number(port) });
    onTestFinished(() => again.close());
    expect((await visit(`${again.url}paid/${reference}`)).status).toBe(503);
    // The payment service, started again, tells what it may not have told.
    const world = await outsideWorld({ merchantUrl: again.url, dataDir });
    expect(await list<Payment>(world.url, "/payments")).toHaveLength(1);
    let heard: (() => void) | undefined;
    const isHeard = new Promise<void>((resolve) => {
      heard = resolve;
    });
    again.serve({
      server: createShop({
        payments: createPayments(world.url),
        mail: createMail({ smtpPort: world.smtpPort, logUrl: world.url }),
        scratchDir: dataDir,
      }),
      payments: {
        ...createPayments(world.url),
        async paymentWith(asked) {
          expect(asked).toBe(reference);
          heard?.();
          return undefined;
        },
      },
    });
    await isHeard;
  });

  test("answers 503 while the server is not served, or the payment service is away, and shows nothing of why", async () => {
    const shop = await openShop();
    const url = await asked(shop);
    await shop.served.close();
    const page = await payByCard(url);
    expect(page.status).toBe(503);
    expect(page.html).not.toMatch(/TypeError|not served|1001/);
    await shop.world.close();
    expect((await visit(page.url)).status).toBe(503);
  });
});

test("a taken port is told with its code", async () => {
  const { url } = await openShopPage({ port: 0 }).then((page) => {
    onTestFinished(() => page.close());
    return page;
  });
  const port = Number(new URL(url).port);
  await expect(openShopPage({ port })).rejects.toMatchObject({
    code: "PORT_IN_USE",
    message: expect.stringContaining("SHOP_PAGE_PORT"),
  });
});
