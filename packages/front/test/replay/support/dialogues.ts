/**
 * What clients hold of dialogues in their middle, and how they go on with that.
 */

import { askIdOf, initialize, sessionOf, streamOf } from "../../legacy/support/legacyClient.ts";
import { wire } from "../../support/requests.ts";

/** What a client of each era holds while the second question is open. */
export interface HeldByClients {
  /** By tool. */
  readonly states: Readonly<Record<string, string>>;
  readonly legacy: {
    readonly session: string;
    readonly ask: string;
    /** The stream's last event that was seen. */
    readonly event: string;
  };
}

const tools = ["refund_once", "refund_repeatable"];
const accept = { action: "accept", content: { confirm: true } };
const decline = { action: "decline" };

interface Result {
  readonly content?: readonly { readonly text: string }[];
  readonly requestState?: string;
  readonly inputRequests?: Readonly<Record<string, unknown>>;
}

async function call(
  url: string,
  name: string,
  more: { readonly requestState?: string; readonly inputResponses?: unknown } = {},
): Promise<Result> {
  const { headers, body } = wire({
    method: "tools/call",
    params: { name, arguments: { orderId: "1001" }, ...more },
    meta: { "io.modelcontextprotocol/clientCapabilities": { elicitation: { form: {} } } },
    headers: { host: undefined },
  });
  const response = await fetch(url, { method: "POST", headers, body });
  const text = await response.text();
  const { result } = JSON.parse(text) as { readonly result?: Result };
  if (result === undefined) throw new Error(text);
  return result;
}

/** Holds every dialogue up to its second question. */
export async function begin(url: string): Promise<HeldByClients> {
  const states: Record<string, string> = {};
  for (const name of tools) {
    const { requestState = "" } = await call(url, name);
    const next = await call(url, name, { requestState, inputResponses: { confirm: accept } });
    states[name] = next.requestState ?? "";
  }
  const session = await initialize(url);
  const stream = streamOf(
    await session.request(url, "tools/call", {
      name: "refund_once",
      arguments: { orderId: "1001" },
    }),
  );
  await session.answer(url, (await stream.message()).id, accept);
  let last = await stream.next();
  while (last?.message?.method === undefined) last = await stream.next();
  return {
    states,
    legacy: { session: session.id, ask: askIdOf(last.message), event: last.id ?? "" },
  };
}

/** Answers the open question of each dialogue; gives the texts of the results, by tool, and the legacy one's as `legacy`. */
export async function finish(
  url: string,
  { states, legacy }: HeldByClients,
): Promise<Readonly<Record<string, unknown>>> {
  const texts: Record<string, unknown> = {};
  for (const [name, requestState] of Object.entries(states)) {
    const { content } = await call(url, name, {
      requestState,
      inputResponses: { elicit: decline },
    });
    texts[name] = content?.[0]?.text;
  }
  const session = sessionOf(legacy.session);
  await session.answer(url, legacy.ask, decline);
  const stream = streamOf(await session.listen(url, legacy.event));
  const { result } = await stream.message();
  texts["legacy"] = (result as Result | undefined)?.content?.[0]?.text;
  return texts;
}
