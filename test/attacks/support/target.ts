/**
 * What is attacked: a served front with a tool of each kind, how often its handlers were entered, and the judgement of a reply.
 *
 * The property that every attack is held to: the answer is an error of the refusal table (docs/design.md 8) or the connection is
 * closed, nothing internal is told, no handler is entered, and the next good call is served.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { errorSpecs } from "@reprise/errors";
import { defineServer, type ServedServer, type ServeOptions, serve, tool } from "reprise";
import { afterAll, beforeAll, beforeEach, expect, onTestFinished } from "vitest";
import * as z from "zod";
import { type CapturedLog, capturedLog } from "../../support/capturedLog.ts";
import { RawClient, type RawMessage, type RawRequest } from "../../support/rawMcp.ts";
import type { WireResponse } from "./rawSocket.ts";

/** A front under attack. */
export interface Target {
  readonly served: ServedServer;
  readonly url: string;
  readonly log: CapturedLog;
  readonly client: RawClient;
  /** How often a handler was entered since the last `serves`. */
  entered(): number;
  /** Makes a good call and checks that it is served; then counting begins anew. */
  serves(): Promise<void>;
}

const word = z.object({ word: z.string() });

/** Starts one. `onEnd` has it closed: with the test unless told otherwise. */
export async function startTarget(
  options: ServeOptions = {},
  onEnd: (work: () => Promise<void>) => void = onTestFinished,
): Promise<Target> {
  let entries = 0;
  const entered = (): void => {
    entries += 1;
  };
  const server = defineServer({
    name: "target",
    tools: [
      tool({
        name: "echo",
        description: "Gives its arguments back",
        effects: "repeatable",
        input: { type: "object" },
        handler(args) {
          entered();
          return JSON.stringify(args);
        },
      }),
      tool({
        name: "routed",
        description: "Has a header of its own",
        effects: "repeatable",
        input: {
          type: "object",
          properties: { region: { type: "string", "x-mcp-header": "Region" } },
        },
        handler() {
          entered();
          return "Routed.";
        },
      }),
      tool({
        name: "ask",
        description: "Asks, and acts once",
        input: z.object({ item: z.string() }),
        async handler({ item }, ctx) {
          entered();
          if (!(await ctx.confirm(`Take ${item}?`))) return "Left.";
          await ctx.step("take", () => item);
          return "Taken.";
        },
      }),
      tool({
        name: "form",
        description: "Has a form filled in",
        effects: "repeatable",
        async handler(_args, ctx) {
          entered();
          const answer = await ctx.elicit("Which word?", word);
          return answer.action === "accept" ? answer.content.word : "None.";
        },
      }),
    ],
  });
  const log = capturedLog();
  const folder = await mkdtemp(path.join(tmpdir(), "reprise-attack-"));
  const served = await serve(server, {
    port: 0,
    dataDir: folder,
    requestStateKey: "a key of this test, which is long enough to be one",
    logger: log.logger,
    ...options,
  });
  const client = new RawClient();
  onEnd(async () => {
    client.close();
    await served.close();
    await rm(folder, { recursive: true, force: true });
  });
  return {
    served,
    log,
    client,
    url: served.url,
    entered: () => entries,
    async serves() {
      const { result } = await client.call(served.url, echo({ good: true }));
      expect(result?.content?.[0]?.text).toBe('{"good":true}');
      entries = 0;
    },
  };
}

/** A call of the tool that gives its arguments back. */
export const echo = (args: unknown): RawRequest => ({ params: { name: "echo", arguments: args } });

const known = new Set(Object.values(errorSpecs).map(({ rpcCode }) => rpcCode));
const statuses = new Set([200, ...Object.values(errorSpecs).map(({ httpStatus }) => httpStatus)]);

/** What of the inside must never be told: stack frames, files, packages, engines. */
const internals =
  /\bat [^ ]+ \(|\.(ts|js|mjs):\d|node_modules|node:internal|\/home\/|\/work\/|\/tmp\/|FST_ERR|HPE_|ECONN|TypeError|RangeError|SyntaxError|ajv|fastify/i;

/** Checks that a reply is a refusal of the table that tells nothing of the inside. Closed without one is as good. */
export function expectRefusal(reply: Pick<WireResponse, "status" | "body"> | undefined): void {
  if (reply === undefined) return;
  const { status, body } = reply;
  expect(statuses, `status ${status}: ${body}`).toContain(status);
  expect(status, body).not.toBe(500);
  expect(body).not.toMatch(internals);
  // Node's own answer to a request without Host has no body.
  if (status === 400 && /^(0\r\n\r\n)?$/.test(body)) return;
  const { error, result } = JSON.parse(body) as RawMessage;
  if (error === undefined) expect(result?.isError, body).toBe(true);
  else expect(known, body).toContain(error.code);
}

/** One for all tests of a file, or of a `describe`. */
export function sharedTarget(options: ServeOptions = {}): () => Target {
  let target: Target | undefined;
  const ends: (() => Promise<void>)[] = [];
  beforeAll(async () => {
    target = await startTarget(options, (work) => ends.push(work));
  });
  beforeEach(() => target?.serves());
  afterAll(async () => {
    for (const end of ends) await end();
  });
  return () => {
    if (target === undefined) throw new Error("the target has not started");
    return target;
  };
}
