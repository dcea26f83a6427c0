/** The entry for pages: what Node has built in and browsers have not is done without, and nothing else differs. */
import { readFile } from "node:fs/promises";
import { domainToASCII, domainToUnicode } from "node:url";
import {
  connect,
  type FormReply,
  failureOf,
  type Host,
  ProtocolError,
  reviewUrl,
} from "@reprise/client/browser";
import { errorSpecs, RepriseError } from "@reprise/errors";
import fc from "fast-check";
import { expect, onTestFinished, test } from "vitest";
import { accept, manualClock } from "./support/hosts.ts";
import { textOf } from "./support/legacyOpened.ts";
import { confirmParams, legacyServer } from "./support/legacyServer.ts";

const seed = 20_260_728;

test("no file behind the entry imports from Node", async () => {
  const seen = new Set<string>();
  const found: string[] = [];
  const visit = async (url: URL): Promise<void> => {
    if (seen.has(url.href)) return;
    seen.add(url.href);
    const code = await readFile(url, "utf8");
    for (const [, type, from = ""] of code.matchAll(
      /^(?:import|export) (type )?[^;]*?from "([^"]+)";/gm,
    )) {
      if (type === undefined && from.startsWith("node:")) found.push(`${url.pathname}: ${from}`);
      if (from.startsWith("./")) await visit(new URL(from, url));
    }
  };
  await visit(new URL(import.meta.resolve("@reprise/client/browser")));
  expect(found).toEqual([]);
  expect([...seen].some((file) => file.endsWith("/gates.ts") || file.endsWith("/gates.js"))).toBe(
    true,
  );
});

test("a host name that Node can read is shown as Node reads it", () => {
  const shown = (host: string): string | undefined =>
    /displays as "([^"]*)"/.exec(reviewUrl(`https://${host}/`).warnings.join(" "))?.[1];
  for (const host of ["xn--80ak6aa4i.com", "xn--mnchen-3ya.de", "xn--fiqs8s.xn--fiqs8s"]) {
    expect(shown(host), host).toBe(domainToUnicode(host));
  }
  // Letters of eight scripts and of two planes: what Unicode normalises away or forbids in names is another matter.
  const letter = fc.constantFrom(
    ...Array.from("abcxyz019-éüñøаржевβωλ中文字國かなカ한글אבגعربไท𐐨𐑀𠀀𠁁"),
  );
  const label = fc.string({ unit: letter, minLength: 1, maxLength: 15 });
  let compared = 0;
  fc.assert(
    fc.property(fc.array(label, { minLength: 1, maxLength: 3 }), (labels) => {
      const ascii = domainToASCII([...labels, "example"].join("."));
      // Node gives "" for what is no host name, mixed directions among others.
      if (!ascii.includes("xn--") || !URL.canParse(`https://${ascii}/`)) return;
      compared += 1;
      expect(shown(ascii)).toBe(domainToUnicode(ascii));
    }),
    { seed, numRuns: 2_000 },
  );
  expect(compared).toBeGreaterThan(200);
});

test("a label that only looks like punycode is shown as it is", () => {
  for (const host of [
    "xn--zzzzzzzzzzzzzzzzzzzzzz.example",
    "xn--a-.example",
    "xn--99999999.example",
  ])
    if (URL.canParse(`https://${host}/`))
      expect(reviewUrl(`https://${host}/`).warnings.join(" ")).toContain("punycode");
});

test("a question of the handshake era belongs to the call that is open, where no async context tells", async () => {
  const server = await legacyServer(async (call) => {
    const reply = await call.ask("q", "elicitation/create", confirmParams("Sure?"));
    call.result(JSON.stringify(reply["result"]));
  });
  const targets: string[] = [];
  const host: Host = {
    form: async (_ask, { target }): Promise<FormReply> => {
      targets.push(target);
      return accept({ confirm: true });
    },
  };
  const connected = await connect({ url: server.url, host, clock: manualClock() });
  onTestFinished(() => connected.close());
  expect(textOf(await connected.callTool("t"))).toContain('"action":"accept"');
  expect(targets).toEqual(["t"]);
});

test("a failure has a code, and tells what to do where the registry knows", () => {
  expect(failureOf(new RepriseError("SERVER_UNREACHABLE", "gone"))).toMatchObject({
    code: "SERVER_UNREACHABLE",
    remedy: errorSpecs.SERVER_UNREACHABLE.remedy,
  });
  const ofServer = new ProtocolError(errorSpecs.IDEMPOTENCY_CONFLICT.rpcCode, "no", {
    code: "IDEMPOTENCY_CONFLICT",
    key: "k",
  });
  expect(failureOf(ofServer)).toEqual({
    code: "IDEMPOTENCY_CONFLICT",
    message: "no",
    remedy: errorSpecs.IDEMPOTENCY_CONFLICT.remedy,
    data: { code: "IDEMPOTENCY_CONFLICT", key: "k" },
  });
  // -32602 is many things: a wrong advice is worse than none.
  expect(failureOf(new ProtocolError(-32602, "no"))).toEqual({ code: "-32602", message: "no" });
  expect(failureOf(new ProtocolError(-31001, "no", { code: "__proto__" })).code).toBe("BUSY");
  expect(failureOf(undefined)).toEqual({ code: "ERROR", message: "undefined" });
});
