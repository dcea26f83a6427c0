/** What whoever can reach `/readyz` and `/metrics` can make a front do: look once, however many ask. */
import { createFront, type ListenOptions, listen } from "@reprise/front";
import fastify from "fastify";
import { expect, onTestFinished, test } from "vitest";
import { capturedLog } from "../../../test/support/capturedLog.ts";
import { fakeRuntime } from "./support/fakeRuntime.ts";

const crowd = 200;

function start(
  health: () => Promise<{ ok: boolean; reason?: string }>,
  metricsText: () => Promise<string>,
) {
  const log = capturedLog();
  const app = fastify({ loggerInstance: log.logger });
  app.register(createFront({ runtime: { ...fakeRuntime(), health } as never, metricsText }));
  onTestFinished(() => app.close());
  const ask = (url: string) =>
    Promise.all(
      Array.from({ length: crowd }, () => app.inject({ url, headers: { host: "localhost" } })),
    );
  return { ask, log };
}

test("of a crowd that asks at once all get the answer of one look, and the log gets one line", async () => {
  let looks = 0;
  let answer = (): void => undefined;
  const look = async <T>(found: T): Promise<T> => {
    looks += 1;
    await new Promise<void>((resolve) => {
      answer = resolve;
    });
    return found;
  };
  const { ask, log } = start(
    () => look({ ok: false, reason: "the store is away" }),
    () => look("more 1\n"),
  );
  for (const [url, status] of [
    ["/readyz", 503],
    ["/metrics", 200],
  ] as const) {
    const before = looks;
    const replies = ask(url);
    // By then every request of the crowd has been let in.
    for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setImmediate(resolve));
    answer();
    expect(new Set((await replies).map(({ statusCode }) => statusCode))).toEqual(new Set([status]));
    expect(looks - before).toBe(1);
  }
  expect(log.entries.filter(({ message }) => message === "not ready")).toHaveLength(1);
});

test("a look that failed is made anew for whoever asks next", async () => {
  let looks = 0;
  const { ask } = start(
    () => Promise.resolve({ ok: true }),
    () => (++looks === 1 ? Promise.reject(new Error("away")) : Promise.resolve("more 1\n")),
  );
  const [first] = await ask("/metrics");
  expect(first?.body).not.toContain("more 1");
  const [second] = await ask("/metrics");
  expect(second?.body).toContain("more 1");
});

test.each([
  ["with auth and without a token for metrics", {}, ["metrics_open"]],
  ["with such a token", { metricsToken: ["a token of whoever reads the metrics"] }, []],
] as const)(
  "an address that others reach warns of open metrics %s",
  async (_title, more, events) => {
    const log = capturedLog();
    const options: ListenOptions = {
      ...{ runtime: fakeRuntime(), logger: log.logger, ...more },
      authenticate: () => ({ caller: { principal: "p", person: "p", scopes: [], claims: {} } }),
      // An address for documentation, which no machine has: nothing is bound.
      ...{ host: "192.0.2.7", port: 0 },
    };
    await expect(listen(options)).rejects.toMatchObject({ code: "EADDRNOTAVAIL" });
    expect(log.entries.flatMap(({ fields }) => fields["event"] ?? [])).toEqual(events);
  },
);
