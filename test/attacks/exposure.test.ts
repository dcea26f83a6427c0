/**
 * What a stranger sees of a front without being asked in, and what one caller can take from the others.
 */
import { request } from "node:http";
import { RepriseError } from "@reprise/errors";
import { defineServer, type ServeOptions, tool } from "reprise";
import { afterAll, describe, expect, onTestFinished, test } from "vitest";
import * as z from "zod";
import { RawClient, type RawMessage } from "../support/rawMcp.ts";
import { serveForTest } from "../support/temporary.ts";

const server = () => {
  let entered = 0;
  return {
    entered: () => entered,
    definition: defineServer({
      name: "exposed",
      tools: [
        tool({
          name: "SECRET-TOOL",
          description: "d",
          input: z.object({ text: z.string() }),
          async handler({ text }, ctx) {
            entered += 1;
            return (await ctx.confirm(`Keep ${text.slice(0, 5)}?`)) ? "Kept." : "Left.";
          },
        }),
      ],
    }),
  };
};

const byHeader: NonNullable<ServeOptions["authenticate"]> = ({ headers }) => {
  const person = headers["x-person"];
  if (typeof person !== "string") {
    return { refusal: new RepriseError("UNAUTHORIZED", "A person is wanted.") };
  }
  return { caller: { principal: person, person, scopes: [], claims: {} } };
};

const token = "a token of whoever reads the metrics, long enough";

describe("metrics", () => {
  const read = async (url: string, authorization?: string) => {
    const headers = authorization === undefined ? {} : { authorization };
    const response = await fetch(new URL("/metrics", url), { headers });
    return { status: response.status, text: await response.text() };
  };

  test("tell counts of methods and outcomes, and nothing that a caller or author wrote", async () => {
    const { url } = await serveForTest(server().definition);
    const client = new RawClient();
    onTestFinished(() => client.close());
    await client.call(url, { params: { name: "SECRET-TOOL", arguments: { text: "MARKER" } } });
    await client.call(url, { method: "MARKER/method", params: { name: "MARKER" } });
    const { status, text } = await read(url);
    expect(status).toBe(200);
    expect(text).toContain('method="tools/call"');
    expect(text).toContain('method="other"');
    expect(text).not.toContain("MARKER");
  });

  // promise P5.29
  test("count refused states by outcome, whatever their cause", async () => {
    const { url } = await serveForTest(server().definition);
    const client = new RawClient();
    onTestFinished(() => client.close());
    const params = { name: "SECRET-TOOL", arguments: { text: "MARKER" } };
    const state = await client.ask(url, { params });
    for (const requestState of ["made up", `${state}A`, "a".repeat(40_000), 7, null]) {
      await client.call(url, { params: { ...params, requestState } });
    }
    await client.call(url, {
      params: { name: "SECRET-TOOL", arguments: { text: "other" }, requestState: state },
    });
    expect((await read(url)).text).toContain(
      '{method="tools/call",outcome="REQUEST_STATE_INVALID"} 6\n',
    );
  });

  test("want one of the tokens where there are any, and are one refusal for every other", async () => {
    const other = `${token} the second one`;
    const { url } = await serveForTest(server().definition, { metricsToken: [token, other] });
    const refusals = await Promise.all(
      [
        undefined,
        "",
        "Bearer",
        `Bearer ${token.replaceAll(" ", "-")}`,
        `Basic ${token}`,
        token,
      ].map((authorization) => read(url, authorization)),
    );
    expect(new Set(refusals.map(({ status, text }) => `${status} ${text}`))).toEqual(
      new Set(['401 {"status":"unauthorized"}']),
    );
  });

  test("are read with a token", async () => {
    const metricsToken = [token.replaceAll(" ", "-")];
    const { url } = await serveForTest(server().definition, { metricsToken });
    expect((await read(url, `Bearer ${metricsToken[0]}`)).status).toBe(200);
  });

  test("are no way around the Host check", async () => {
    const { port } = await serveForTest(server().definition);
    const status = await new Promise<number | undefined>((resolve) => {
      request(
        { port, host: "127.0.0.1", path: "/metrics", headers: { host: "evil.example" } },
        (response) => resolve(response.resume().statusCode),
      ).end();
    });
    expect(status).toBe(403);
  });
});

describe("probes", () => {
  test("tell a word, whoever asks and whatever they send", async () => {
    const { url } = await serveForTest(server().definition);
    for (const [path, word] of [
      ["/healthz", '{"status":"ok"}'],
      ["/readyz", '{"status":"ready"}'],
    ] as const) {
      const response = await fetch(new URL(`${path}?verbose=1`, url));
      expect(await response.text()).toBe(word);
    }
  });
});

describe("without a token", () => {
  test("nothing is told of what is served: every method gets the same refusal", async () => {
    const { definition, entered } = server();
    const { url } = await serveForTest(definition, { authenticate: byHeader });
    const client = new RawClient();
    onTestFinished(() => client.close());
    const bodies = new Set<string>();
    for (const method of ["server/discover", "tools/list", "tools/call", "prompts/list", "none"]) {
      const { status, body } = await client.send(url, { method, params: { name: "SECRET-TOOL" } });
      bodies.add(`${status} ${body.replace(/"id":\d+,/, "")}`);
      expect(body).not.toContain("exposed");
    }
    expect(bodies.size).toBe(1);
    expect(entered()).toBe(0);
  });
});

describe("one caller", () => {
  const client = new RawClient();
  afterAll(() => client.close());
  const call = (url: string, person: string, text: string): Promise<RawMessage> =>
    client.call(url, {
      params: { name: "SECRET-TOOL", arguments: { text } },
      headers: { "x-person": person },
    });

  test("that opens questions without end is refused at its limit, and no other caller is", async () => {
    const { url } = await serveForTest(server().definition, {
      authenticate: byHeader,
      rateLimit: "none",
      maxWaitingRuns: 5,
    });
    const greedy = await Promise.all(
      Array.from({ length: 20 }, (_, at) => call(url, "eve", `${at}`)),
    );
    const asked = greedy.filter(({ result }) => result?.resultType === "input_required");
    const refused = greedy.flatMap(({ error }) => error?.data?.code ?? []);
    expect(asked).toHaveLength(5);
    expect(new Set(refused)).toEqual(new Set(["TOO_MANY_WAITING_RUNS"]));
    for (const person of ["ann", "bob"]) {
      expect((await call(url, person, "x")).result?.resultType).toBe("input_required");
    }
  });

  test("that fills the store with large questions is refused at its bytes, and no other caller is", async () => {
    const { url } = await serveForTest(server().definition, {
      authenticate: byHeader,
      rateLimit: "none",
      maxBytesPerCaller: 200_000,
    });
    const codes: unknown[] = [];
    for (let at = 0; at < 6; at++) {
      const { error, result } = await call(url, "eve", `${at}${"x".repeat(60_000)}`);
      codes.push(error?.data?.code ?? result?.resultType);
    }
    expect(codes[0]).toBe("input_required");
    expect(codes.at(-1)).toBe("TOO_MANY_WAITING_RUNS");
    expect((await call(url, "ann", "x".repeat(60_000))).result?.resultType).toBe("input_required");
  });

  test("that calls without pause is refused at its rate, and no other caller is", async () => {
    const { url } = await serveForTest(server().definition, {
      authenticate: byHeader,
      rateLimit: { perMinute: 10, burst: 5 },
    });
    const greedy = await Promise.all(Array.from({ length: 30 }, () => call(url, "eve", "x")));
    expect(
      greedy.filter(({ error }) => error?.data?.code === "BUSY").length,
    ).toBeGreaterThanOrEqual(20);
    expect((await call(url, "ann", "x")).result?.resultType).toBe("input_required");
  });
});
