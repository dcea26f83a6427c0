/** Servers that are silent for longer than Node's fetch waits. */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { accept, formHost } from "./support/hosts.ts";
import { client, textOf } from "./support/legacyOpened.ts";
import { confirmParams, legacyServer } from "./support/legacyServer.ts";

const inUse = Symbol.for("undici.globalDispatcher.1");

interface Dispatcher {
  dispatch(options: object, handler: unknown): boolean;
}

/** Has fetch give a silent response up after a second at most, in place of five minutes. Returns what it dispatched. */
function impatientFetch(): object[] {
  void new Headers();
  const before = Reflect.get(globalThis, inUse) as Dispatcher;
  const dispatched: object[] = [];
  const impatient: Dispatcher = {
    dispatch(options, handler) {
      dispatched.push(options);
      return before.dispatch({ headersTimeout: 100, bodyTimeout: 100, ...options }, handler);
    },
  };
  Reflect.set(globalThis, inUse, impatient);
  onTestFinished(() => void Reflect.set(globalThis, inUse, before));
  return dispatched;
}

/** Resolves when fetch has given up a response that says nothing. */
async function untilFetchGivesUp(): Promise<void> {
  const silent = createServer((_request, response) => void response.writeHead(200).write(" "));
  silent.listen(0, "127.0.0.1");
  await once(silent, "listening");
  onTestFinished(() => {
    silent.closeAllConnections();
    silent.close();
  });
  const { port } = silent.address() as AddressInfo;
  const response = await fetch(`http://127.0.0.1:${port}/`);
  await expect(response.text()).rejects.toMatchObject({ cause: { code: "UND_ERR_BODY_TIMEOUT" } });
}

test("a call without comments and event ids outlasts fetch's patience while its person thinks, and while it works", async () => {
  const dispatched = impatientFetch();
  const server = await legacyServer(async (call) => {
    await call.ask("q", "elicitation/create", confirmParams("Sure?"));
    await untilFetchGivesUp();
    call.result("Deleted.");
  });
  const host = formHost(async () => {
    await untilFetchGivesUp();
    return accept({ confirm: true });
  });
  const connected = await client(server, { host, era: "legacy" });
  expect(textOf(await connected.callTool("t"))).toBe("Deleted.");
  // Through the dispatcher that the program chose.
  expect(dispatched.length).toBeGreaterThan(3);
});

test("a fetch of the program's own is used as it is", async () => {
  const server = await legacyServer((call) => call.result("done"));
  const inits: (RequestInit | undefined)[] = [];
  const own: typeof fetch = (url, init) => {
    inits.push(init);
    return fetch(url, init);
  };
  const connected = await client(server, { fetch: own, era: "legacy" });
  expect(textOf(await connected.callTool("t"))).toBe("done");
  expect(inits.every((init) => init !== undefined && !("dispatcher" in init))).toBe(true);
});
