/**
 * What the shop lists, asks and answers on each of the four revisions: golden/revisions.json, in the format of
 * packages/protocol/test/legacy/golden/README.md. The column of 2026-07-28 is compared with the served shop's own wire,
 * the others with what is lowered from it.
 */
import { readFileSync } from "node:fs";
import {
  type AskWire,
  type JsonObject,
  legacyRevisions,
  lowerAsk,
  lowerEntries,
  lowerResult,
  type ResultMethod,
  type Revision,
} from "@reprise/protocol";
import { describe, expect, test } from "vitest";
import { elicitationId, type ShopWire, shopWire, type Wire } from "./shopWire.ts";

type Columns = Readonly<Record<string, unknown>>;
type Golden = Readonly<Record<"entries" | "asks" | "results", Readonly<Record<string, Columns>>>>;

const golden = JSON.parse(
  readFileSync(new URL("./golden/revisions.json", import.meta.url), "utf8"),
) as Golden;
const revisions: readonly Revision[] = ["2026-07-28", ...legacyRevisions];

function column(columns: Columns, revision: string): unknown {
  const found = columns[revision];
  return typeof found === "string" ? column(columns, found.replace("as ", "")) : found;
}

const columnsOf = (part: Readonly<Record<string, Columns>>, revision: string) =>
  Object.fromEntries(
    Object.entries(part).map(([title, columns]) => [title, column(columns, revision)]),
  );

const each = (
  part: Readonly<Record<string, Wire>>,
  change: (wire: Wire, title: string) => unknown,
) => Object.fromEntries(Object.entries(part).map(([title, wire]) => [title, change(wire, title)]));

let wire: Promise<ShopWire> | undefined;
/** Served and called once, by whichever test comes first; what came over the wire is plain data. */
const servedWire = (): Promise<ShopWire> => {
  wire ??= shopWire();
  return wire;
};

const kindOf = (title: string) =>
  title.startsWith("tools") ? "tool" : title.startsWith("prompts") ? "prompt" : "resource";

describe.each(revisions)("on %s the shop", (revision) => {
  test("lists its tools, its prompt and its resource as that revision knows them", async () => {
    const { entries } = await servedWire();
    const lowered = each(
      entries,
      (entry, title) => lowerEntries(kindOf(title), [entry as JsonObject], revision)[0],
    );
    expect(lowered).toEqual(columnsOf(golden.entries, revision));
  });

  test("asks what that revision can ask, and says what it can't", async () => {
    const { asks } = await servedWire();
    const lowered = each(asks, (ask) => {
      const made = lowerAsk(ask as unknown as AskWire, revision, elicitationId);
      return made.kind === "ask" ? made.ask : { refused: made.error.code };
    });
    expect(lowered).toEqual(columnsOf(golden.asks, revision));
  });

  test("answers without anything of another revision", async () => {
    const { results } = await servedWire();
    const lowered = Object.fromEntries(
      Object.entries(results).map(([title, { method, result }]) => [
        title,
        lowerResult(method as ResultMethod, result as JsonObject, revision),
      ]),
    );
    expect(lowered).toEqual(columnsOf(golden.results, revision));
  });
});
