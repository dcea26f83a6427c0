/**
 * `reprise call` and `reprise resume` against the shop, as programs: at a terminal, over a pipe, with prepared answers,
 * over a file. Counted at the payment service, in the mail log and on the disk.
 */
import { existsSync } from "node:fs";
import { copyFile, mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { runReprise, startAtTerminal } from "../support/repriseCommand.ts";
import { type ShopProcess, startShop } from "../support/shopProcess.ts";

/** See packages/client/src/exitCodes.ts: scripts rely on these numbers. */
const exit = { done: 0, toolError: 1, usage: 2, waiting: 5, unanswered: 6 };

let shop: ShopProcess;
let folder: string;

beforeAll(async () => {
  [shop, folder] = await Promise.all([
    startShop(),
    mkdtemp(path.join(tmpdir(), "reprise-command-")),
  ]);
});

afterEach(() => shop.mend());

afterAll(async () => {
  await shop.stop();
  await rm(folder, { recursive: true, force: true });
});

const refund = (orderId: string): string[] => [
  "call",
  shop.url,
  "refund_order",
  JSON.stringify({ orderId }),
];

async function counted(orderId: string, email: string): Promise<readonly [number, number]> {
  return [(await shop.refunds(orderId)).length, (await shop.mails(email)).length];
}

describe("a person at a terminal", () => {
  test("is shown who asks and what, and refunds once by typing yes and send", async () => {
    const terminal = startAtTerminal(refund("1001"));
    await terminal.shows(/confirm: /);
    terminal.input.write("yes\n");
    await terminal.shows(/send \/ change \/ decline \/ cancel \/ later > /);
    expect(await counted("1001", "ada@example.com")).toEqual([0, 0]);
    terminal.input.write("send\n");
    const { code, stdout } = await terminal.ended;
    expect(code).toBe(exit.done);
    expect(stdout).toContain(new URL(shop.url).origin);
    expect(stdout).toMatch(/Refund .+ to ada@example\.com\?/);
    expect(stdout).toMatch(/Refunded /);
    expect(await counted("1001", "ada@example.com")).toEqual([1, 1]);
  });

  test("keeps the folder by declining", async () => {
    const args = ["call", shop.url, "delete_folder", '{"path":"build/"}'];
    const terminal = startAtTerminal(args);
    await terminal.shows(/Delete build\/\?/);
    await terminal.shows(/confirm: /);
    terminal.input.write(":decline\n");
    const { code, stdout } = await terminal.ended;
    expect(code).toBe(exit.done);
    expect(stdout).toContain("Kept build/");
    expect(existsSync(path.join(shop.scratchDir, "build"))).toBe(true);
  });

  test("sends nothing by pressing Enter", async () => {
    const args = ["call", shop.url, "delete_folder", '{"path":"build/"}'];
    const terminal = startAtTerminal(args);
    await terminal.shows(/confirm: /);
    terminal.input.write("\n");
    await terminal.shows(/A value is required/);
    terminal.input.write(":later\n");
    const { code } = await terminal.ended;
    expect(code).toBe(exit.unanswered);
    expect(existsSync(path.join(shop.scratchDir, "build"))).toBe(true);
  });
});

describe("a pipe", () => {
  test("is nobody unless told: what it holds accepts nothing", async () => {
    const { code, stderr } = await runReprise(refund("1002"), ["yes", "send"]);
    expect(code).toBe(exit.unanswered);
    expect(stderr).toContain("Nobody answered, so nothing was accepted");
    expect(await counted("1002", "bo@example.com")).toEqual([0, 0]);
  });

  test("refunds nothing when it declines, and once when the same call is accepted afterwards", async () => {
    const declined = await runReprise([...refund("1002"), "--interactive"], [":decline"]);
    expect(declined).toMatchObject({ code: exit.done, stdout: "Nothing was refunded.\n" });
    const accepted = await runReprise([...refund("1002"), "--interactive"], ["yes", "send"]);
    expect(accepted.code).toBe(exit.done);
    expect(accepted.stdout).toMatch(/^Refunded /);
    expect(await shop.refunds("1002")).toHaveLength(1);
  });
});

describe("prepared answers", () => {
  test("refund once, after an outage in the first call's step too", async () => {
    await shop.break({ kind: "outage", path: "/refunds" });
    const args = [...refund("1003"), "--answer", "confirm=true"];
    const failed = await runReprise(args);
    expect(failed.code).toBe(exit.toolError);
    expect(await counted("1003", "chika@example.com")).toEqual([0, 0]);
    await shop.mend();
    const done = await runReprise(args);
    expect(done.code).toBe(exit.done);
    expect(done.stdout).toMatch(/^Refunded /);
    expect(await counted("1003", "chika@example.com")).toEqual([1, 1]);
  });

  test("delete the folder and print the whole result as JSON", async () => {
    const args = ["call", shop.url, "delete_folder", '{"path":"logs/"}', "--json"];
    const { code, stdout, stderr } = await runReprise([...args, "--answer", "confirm=true"]);
    expect(code).toBe(exit.done);
    expect(stderr).toContain("Delete logs/?");
    expect(JSON.parse(stdout)).toMatchObject({
      content: [{ type: "text", text: "Deleted logs/" }],
    });
    expect(existsSync(path.join(shop.scratchDir, "logs"))).toBe(false);
  });

  test("answer two rounds of questions and a model's part", async () => {
    const answers = [
      'dates={"departure":"2026-10-03","nights":3}',
      'comfort={"travelClass":"business","hotelStars":"5"}',
      "confirm=true",
    ];
    const trip = await runReprise([
      ...["call", shop.url, "book_trip", '{"city":"Rome"}'],
      ...answers.flatMap((answer) => ["--answer", answer]),
    ]);
    expect(trip.stdout).toMatch(/^Booked 3 nights in Rome/);
    expect((await shop.bookings("Rome")).map(({ kind }) => kind)).toEqual(["flight", "hotel"]);
    const summary = ["call", shop.url, "summarize_orders", "--answer", 'sample="All is well."'];
    expect(await runReprise(summary)).toMatchObject({ code: exit.done, stdout: "All is well.\n" });
  });
});

describe("a saved call", () => {
  test("waits in a file that only its owner reads, is resumed by another process, and refunds once", async () => {
    const file = path.join(folder, "refund.json");
    const kept = await runReprise([...refund("1004"), "--save", file]);
    expect(kept.code).toBe(exit.waiting);
    expect(kept.stderr).toContain(`reprise resume ${file}`);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect(await counted("1004", "dana@example.org")).toEqual([0, 0]);

    const resumed = await runReprise(["resume", file, "--answer", "confirm=true"]);
    expect(resumed.code).toBe(exit.done);
    expect(resumed.stdout).toMatch(/^Refunded /);
    expect(existsSync(file)).toBe(false);
    expect(await counted("1004", "dana@example.org")).toEqual([1, 1]);
  });

  test("that is copied and resumed twice refunds once and says the same", async () => {
    const file = path.join(folder, "twice.json");
    await runReprise([...refund("1005"), "--save", file]);
    const copy = path.join(folder, "copy.json");
    await copyFile(file, copy);
    const both = await Promise.all(
      [file, copy].map((each) => runReprise(["resume", each, "--answer", "confirm=true"])),
    );
    expect(both.map(({ code }) => code)).toEqual([exit.done, exit.done]);
    expect(both[0]?.stdout).toMatch(/^Refunded /);
    expect(both[1]?.stdout).toBe(both[0]?.stdout);
    expect(await counted("1005", "eli@example.com")).toEqual([1, 1]);
  });

  test("is not begun over a file that is there", async () => {
    const file = path.join(folder, "again.json");
    const first = await runReprise([...refund("1001"), "--save", file]);
    expect(first.code).toBe(exit.done);
    expect(first.stdout).toMatch(/^Refunded /);
    const args = ["call", shop.url, "delete_folder", '{"path":"coverage/"}', "--save", file];
    expect((await runReprise(args)).code).toBe(exit.waiting);
    const refused = await runReprise(args);
    expect(refused.code).toBe(exit.usage);
    expect(refused.stderr).toMatch(/^[A-Z_]+: /);
  });
});

test.each([
  ["no command", [], "Usage: reprise"],
  ["a tool's name missing", ["call", "http://127.0.0.1:1/mcp"], "missing required argument 'tool'"],
  ["arguments that are no JSON", ["call", "http://127.0.0.1:1/mcp", "t", "{a}"], "no JSON"],
])("%s is a mistake of usage, never the exit code of a tool's error", async (_, args, words) => {
  const { code, stdout, stderr } = await runReprise(args);
  expect(code).toBe(exit.usage);
  expect(stdout).toBe("");
  expect(stderr).toContain(words);
});

test("help that was asked for is no mistake", async () => {
  const { code, stdout } = await runReprise(["call", "--help"]);
  expect(code).toBe(exit.done);
  expect(stdout).toContain("Usage: reprise call");
});
