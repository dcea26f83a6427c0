/**
 * What is one person's at one client is nobody else's: two people with tokens of a real authorization server, at one front.
 */
import { createBearerAuth, defineServer, type ServedServer, tool } from "reprise";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import * as z from "zod";
import {
  type AuthorizationServer,
  startAuthorizationServer,
  type TokenRequest,
} from "../support/authorizationServer.ts";
import { accepted, RawClient, type RawMessage, type RawRequest } from "../support/rawMcp.ts";
import { serveForTest } from "../support/temporary.ts";

const resource = "https://mcp.example.com/mcp";
const idempotencyKey = "0123456789abcdefghijklmnopqrstuv";

let issuer: AuthorizationServer;
beforeAll(async () => {
  issuer = await startAuthorizationServer(["ledger"]);
});
afterAll(() => issuer.stop());

interface Ledger extends ServedServer {
  /** Who paid what, in order. */
  readonly paid: readonly string[];
  send(token: string, request: RawRequest): Promise<RawMessage>;
}

async function ledger(): Promise<Ledger> {
  const paid: string[] = [];
  const server = defineServer({
    name: "ledger",
    tools: [
      tool({
        name: "pay",
        description: "Pays an amount after a yes",
        input: z.object({ amount: z.number() }),
        async handler({ amount }, ctx) {
          if (!(await ctx.confirm(`Pay ${amount}?`))) return "Nothing was paid.";
          await ctx.step("pay", () => {
            paid.push(`${ctx.caller.person} ${amount}`);
          });
          return `Paid ${amount}, run ${ctx.run.id}.`;
        },
      }),
    ],
  });
  const { authenticate, protectedResource } = createBearerAuth({
    resource,
    issuers: issuer.issuer,
  });
  const served = await serveForTest(server, { authenticate, protectedResource });
  const client = new RawClient();
  onTestFinished(() => client.close());
  return {
    ...served,
    paid,
    send: (token, request) =>
      client.call(served.url, {
        ...request,
        headers: { ...request.headers, authorization: `Bearer ${token}` },
      }),
  };
}

const of = (person: string, client: TokenRequest["client"] = "host-a"): TokenRequest => ({
  ...{ person, client, resource },
  scope: "ledger",
});
const tokenOf = async (request: TokenRequest): Promise<string> =>
  (await issuer.tokens(request)).accessToken;

const pay: RawRequest = { params: { name: "pay", arguments: { amount: 7 } } };
const answered = (requestState: string): RawRequest => ({
  params: { ...pay.params, requestState, inputResponses: { confirm: accepted } },
});
const stateOf = (reply: RawMessage): string => {
  const state = reply.result?.requestState;
  if (state === undefined) throw new Error(`no question came: ${JSON.stringify(reply)}`);
  return state;
};
const textOf = (reply: RawMessage): string | undefined => reply.result?.content?.[0]?.text;

const refusal = { code: -32602, message: "the requestState is not valid" };

test("a dialogue is refused to another person, and goes on for the one who began it", async () => {
  const { send, paid } = await ledger();
  const [ada, bob] = [await tokenOf(of("ada")), await tokenOf(of("bob"))];
  const state = stateOf(await send(ada, pay));
  expect((await send(bob, answered(state))).error).toEqual(refusal);
  expect(paid).toEqual([]);
  expect(textOf(await send(ada, answered(state)))).toMatch(/^Paid 7/);
  // Nor does it tell another person of its outcome.
  expect((await send(bob, answered(state))).error).toEqual(refusal);
  expect(paid).toEqual([`${JSON.stringify([issuer.issuer, "ada"])} 7`]);
});

// promise P5.5
test("a dialogue is refused to the same person at another client", async () => {
  const { send, paid } = await ledger();
  const state = stateOf(await send(await tokenOf(of("ada")), pay));
  const elsewhere = await tokenOf(of("ada", "host-b"));
  expect((await send(elsewhere, answered(state))).error).toEqual(refusal);
  expect(paid).toEqual([]);
});

// promise P5.5
test("a refreshed token goes on with the dialogue that the old one began", async () => {
  const { send } = await ledger();
  const request = of("ada");
  const first = await issuer.tokens(request);
  const state = stateOf(await send(first.accessToken, pay));
  const second = await issuer.refresh(request, first.refreshToken);
  expect(second.accessToken).not.toBe(first.accessToken);
  expect(textOf(await send(second.accessToken, answered(state)))).toMatch(/^Paid 7/);
});

test("one idempotency key at two people is two keys: each has a run of its own", async () => {
  const { send, paid } = await ledger();
  const keyed = { ...pay, meta: { "reprise/idempotencyKey": idempotencyKey } };
  const runs: string[] = [];
  for (const person of ["ada", "bob"]) {
    const token = await tokenOf(of(person));
    const reply = await send(token, answered(stateOf(await send(token, keyed))));
    runs.push(textOf(reply) ?? "");
    // The same first call again joins the run that ended: nothing is paid twice.
    expect(textOf(await send(token, keyed))).toBe(textOf(reply));
  }
  expect(new Set(runs).size).toBe(2);
  expect(paid).toEqual(
    ["ada", "bob"].map((person) => `${JSON.stringify([issuer.issuer, person])} 7`),
  );
});
