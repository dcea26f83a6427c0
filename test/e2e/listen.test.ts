/**
 * The official client listens at one process while another one, on the same store, changes what is served; and what the client
 * is told when its process stops, or dies.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import type { Client } from "@modelcontextprotocol/client";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { type Child, fromSource, startNode } from "../support/childProcess.ts";
import { connectOfficial, type OfficialClient, yes } from "../support/officialClient.ts";

interface Server {
  readonly process: Child;
  readonly url: string;
}

let data = "";
let here: Server;
const clients: OfficialClient[] = [];

async function start(): Promise<Server> {
  const process = startNode([...fromSource, "test/e2e/fixtures/listened/main.ts", data]);
  const [url] = await process.line(/^http:\S+/);
  return { process, url };
}

beforeAll(async () => {
  data = await mkdtemp(path.join(tmpdir(), "reprise-listen-"));
  here = await start();
}, 120_000);

afterEach(async () => {
  for (const client of clients.splice(0)) await client.close();
});

afterAll(async () => {
  await here.process.stop();
  await rm(data, { recursive: true, force: true });
});

async function connect({ url }: Server): Promise<Client> {
  const connected = await connectOfficial(url, yes);
  clients.push(connected);
  return connected.client;
}

/** What a client was told, in order. */
function told(client: Client): string[] {
  const heard: string[] = [];
  client.setNotificationHandler("notifications/tools/list_changed", () => {
    heard.push("tools");
  });
  client.setNotificationHandler("notifications/resources/updated", ({ params }) => {
    heard.push(params.uri);
  });
  return heard;
}

const names = async (client: Client): Promise<readonly string[]> =>
  (await client.listTools(undefined, { cacheMode: "refresh" })).tools.map(({ name }) => name);
const change = (client: Client, name: string, args: Record<string, unknown>): Promise<unknown> =>
  client.callTool({ name, arguments: args });
/** Within a second, as a rule within a tenth; a busy machine gets more. */
const soon = { timeout: 5_000, interval: 20 };

describe("a client that listens at one process", () => {
  test("hears of what another one changes, and lists the new tools at both", async () => {
    const there = await start();
    const [listener, changer] = [await connect(there), await connect(here)];
    const heard = told(listener);
    const subscription = await listener.listen({
      toolsListChanged: true,
      promptsListChanged: true,
      resourceSubscriptions: ["price://lamp", "cost://lamp"],
    });
    expect(subscription.honoredFilter).toEqual({
      toolsListChanged: true,
      resourceSubscriptions: ["price://lamp"],
    });
    await change(changer, "season", { begins: false });
    await expect.poll(() => heard, soon).toEqual(["tools"]);
    expect(await names(listener)).toEqual(["season", "reprice"]);
    expect(await names(changer)).toEqual(["season", "reprice"]);
    await change(changer, "reprice", { id: "chair" });
    await change(changer, "reprice", { id: "lamp" });
    await expect.poll(() => heard, soon).toEqual(["tools", "price://lamp"]);
    await change(changer, "season", { begins: true });
    await expect.poll(() => heard, soon).toEqual(["tools", "price://lamp", "tools"]);
    await subscription.close();
    expect(await subscription.closed).toBe("local");
    expect((await there.process.stop()).code).toBe(0);
  });

  test("is told in order when that process stops, and goes on at another one", async () => {
    const there = await start();
    const [listener, changer] = [await connect(there), await connect(here)];
    const subscription = await listener.listen({ toolsListChanged: true });
    const { code } = await there.process.stop();
    expect([code, await subscription.closed]).toEqual([0, "graceful"]);
    const heard = told(changer);
    await changer.listen({ resourceSubscriptions: ["price://lamp"] });
    await change(changer, "reprice", { id: "lamp" });
    await expect.poll(() => heard, soon).toEqual(["price://lamp"]);
  });

  test("sees a dead process as a broken stream", async () => {
    const there = await start();
    const subscription = await (await connect(there)).listen({ toolsListChanged: true });
    await there.process.stop("SIGKILL");
    expect(await subscription.closed).toBe("remote");
  });
});
