/**
 * A client of 2026-07-28 that subscribes, and the moment at which a front has told its subscribers.
 */
import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import type { JsonObject } from "@reprise/protocol";
import { onTestFinished } from "vitest";
import type { Cluster, Instance } from "../legacy/support/instances.ts";
import { type Got, post, streamOf } from "../legacy/support/legacyClient.ts";
import { wire } from "./requests.ts";

export const subscriptionId = "io.modelcontextprotocol/subscriptionId";

/** Headers of one caller, for authenticators of tests. */
export type CallerHeaders = Readonly<Record<string, string>>;

/** Any request of 2026-07-28. */
export function send(
  url: string,
  method: string,
  params: Readonly<Record<string, unknown>> = {},
  {
    id = 1,
    headers = {},
    meta = {},
  }: {
    readonly id?: number | string;
    readonly headers?: CallerHeaders;
    readonly meta?: Readonly<Record<string, unknown>>;
  } = {},
): Promise<Got> {
  const { headers: own, body } = wire({ id, method, params, meta, headers: { host: undefined } });
  return post(url, body, { ...own, ...headers });
}

/** subscriptions/listen with a filter that may be anything. */
export function subscribe(
  url: string,
  notifications: unknown,
  options: Parameters<typeof send>[3] = {},
): Promise<Got> {
  return send(url, "subscriptions/listen", { notifications }, options);
}

/** A stream that was acknowledged, and what was honoured of its filter. */
export async function listening(
  ...request: Parameters<typeof subscribe>
): Promise<{ readonly stream: ReturnType<typeof streamOf>; readonly honoured: JsonObject }> {
  const stream = streamOf(await subscribe(...request));
  const { method, params } = await stream.message();
  if (method !== "notifications/subscriptions/acknowledged") throw new Error(`first ${method}`);
  return { stream, honoured: params?.["notifications"] as JsonObject };
}

/** A subscription's response as its bytes come, for who looks at comments or reads slowly. */
export async function subscribedBytes(
  url: string,
  notifications: unknown,
): Promise<IncomingMessage> {
  const { headers, body } = wire({
    ...{ method: "subscriptions/listen", params: { notifications } },
    headers: { host: undefined },
  });
  const asked = request(url, { method: "POST", headers, agent: false });
  onTestFinished(() => {
    asked.destroy();
  });
  asked.end(body);
  const [response] = (await once(asked, "response")) as [IncomingMessage];
  return response.setEncoding("utf8");
}

/** Does something, waits until an instance has heard of it, and lets it tell its subscribers. */
export async function heardAt(
  { clock }: Cluster,
  instance: Instance,
  work: () => Promise<unknown>,
): Promise<void> {
  const heard = new Promise<void>((resolve) => {
    const stop = instance.runtime.onChange(() => {
      stop();
      resolve();
    });
  });
  await work();
  await heard;
  clock.advance(200);
}

/** A value of `/metrics`. */
export async function metric(url: string, name: string): Promise<number> {
  const text = await (await fetch(new URL("/metrics", url))).text();
  const line = text.split("\n").find((each) => each.startsWith(`${name} `));
  return Number(line?.slice(name.length + 1) ?? 0);
}
