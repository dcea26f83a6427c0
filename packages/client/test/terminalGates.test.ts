import { exitCodes } from "@reprise/client";
import { expect, test } from "vitest";
import { complete, confirmAsk, inputRequired } from "./support/fakeServer.ts";
import { serve } from "./support/opened.ts";
import { call, formAsk, pageAsk, responses, sampleAsk } from "./support/terminalRun.ts";

test("a person sees who asks, answers, reviews what would be sent, and sends it", async () => {
  const server = await serve(
    inputRequired({ confirm: confirmAsk() }, "s", {
      "reprise/answerBefore": "2026-12-01T12:00:00Z",
    }),
    complete("Deleted."),
  );
  const ran = await call(server, ["yes", "send"]);
  expect(ran).toMatchObject({ code: exitCodes.done, output: "Deleted.\n" });
  expect(responses(server)).toEqual({ confirm: { action: "accept", content: { confirm: true } } });
  expect(ran.dialog).toContain(`── ${new URL(server.url).origin} asks ──`);
  expect(ran.dialog).toContain('It calls itself "fixture-server"');
  expect(ran.dialog).toContain("│ Delete build/?");
  expect(ran.dialog).toContain("until 2026-12-01T12:00:00.000Z (24 h from now)");
  expect(ran.dialog).toMatch(/This is what would be sent:\s+1\. confirm: yes/);
  expect(ran.dialog).toContain("send / change / decline / cancel / later");
});

test("decline and cancel work at a field and at the review", async () => {
  for (const [lines, action] of [
    [[":decline"], "decline"],
    [[":cancel"], "cancel"],
    [["yes", "decline"], "decline"],
    [["yes", "cancel"], "cancel"],
  ] as const) {
    const server = await serve(inputRequired({ confirm: confirmAsk() }, "s"), complete("Kept."));
    expect(await call(server, lines)).toMatchObject({ code: exitCodes.done, output: "Kept.\n" });
    expect(responses(server)).toEqual({ confirm: { action } });
  }
});

test("a form can be changed before it is sent, shows defaults, and checks what is typed", async () => {
  const server = await serve(
    inputRequired(
      {
        order: formAsk(
          {
            email: { type: "string", format: "email", title: "E-mail" },
            count: { type: "integer", minimum: 1, maximum: 9, default: 2 },
            colour: {
              type: "string",
              oneOf: [
                { const: "#f00", title: "Red" },
                { const: "#0f0", title: "Green" },
              ],
            },
            extras: {
              type: "array",
              items: { type: "string", enum: ["gift", "fast"] },
              maxItems: 1,
            },
            note: { type: "string", default: "none" },
            agree: { type: "boolean" },
          },
          ["email", "colour", "agree"],
        ),
      },
      "s",
    ),
    complete("ok"),
  );
  const ran = await call(server, [
    "nobody",
    "ann@example.com", // an address that is none, then one
    "99",
    "", // too many, then the default
    "",
    "2", // a required field can't be left out
    "1,2",
    "fast", // too many, then one
    ":clear",
    "", // typed for note: emptied at once
    "n",
    "send it",
    "change 1",
    "zoe@example.com",
    "change colour",
    "Red",
    "send",
  ]);
  expect(ran.code).toBe(exitCodes.done);
  expect(responses(server)).toEqual({
    order: {
      action: "accept",
      content: {
        email: "zoe@example.com",
        count: 2,
        colour: "#f00",
        extras: ["fast"],
        agree: false,
      },
    },
  });
  expect(ran.dialog).toContain("[Enter keeps 2; :clear empties]");
});

test("the full address is shown with its host, nothing is opened before a yes, and the answer waits for done", async () => {
  const server = await serve(
    inputRequired({ link: pageAsk("https://example.com/sign-in?x=1&y=$(id)") }, "s"),
    complete("ok"),
  );
  const opened: string[] = [];
  const openUrl = async (href: string): Promise<void> => {
    opened.push(href);
  };
  const ran = await call(server, ["", "open", "done"], { openUrl, color: true });
  expect(ran.code).toBe(exitCodes.done);
  expect(ran.dialog).toContain("https://\u001b[1;7mexample.com\u001b[0m/sign-in?x=1&y=$(id)");
  expect(ran.dialog).toContain("Host: example.com");
  expect(opened).toEqual(["https://example.com/sign-in?x=1&y=$(id)"]);
  expect(responses(server)).toEqual({ link: { action: "accept" } });

  const declined = await serve(
    inputRequired({ link: pageAsk("https://example.com/") }, "s"),
    complete("ok"),
  );
  await call(declined, ["decline"], { openUrl });
  expect(opened).toHaveLength(1);
  expect(responses(declined)).toEqual({ link: { action: "decline" } });
});

test("without a browser the person gets the address to open by hand", async () => {
  const server = await serve(
    inputRequired({ link: pageAsk("https://example.com/a") }, "s"),
    complete("ok"),
  );
  const openUrl = async (): Promise<void> => {
    throw new Error("no browser");
  };
  const ran = await call(server, ["open", "done"], { openUrl });
  expect(ran.code).toBe(exitCodes.done);
  expect(ran.dialog).toContain("Open it yourself: https://example.com/a");
});

test("a sampling prompt is shown, the person writes the answer, sees it and sends it", async () => {
  const server = await serve(inputRequired({ s: sampleAsk }, "s"), complete("ok"));
  const ran = await call(server, [
    "write",
    "Lyon",
    ".",
    "change",
    "write",
    "Paris",
    "of course",
    ".",
    "send",
  ]);
  expect(ran.code).toBe(exitCodes.done);
  expect(ran.dialog).toContain("│ Capital of France?");
  expect(ran.dialog).toContain("│ Be brief");
  expect(responses(server)).toEqual({
    s: {
      role: "assistant",
      content: { type: "text", text: "Paris\nof course" },
      model: "human",
      stopReason: "endTurn",
    },
  });
});

test("a prompt can be edited before a model gets it, and the model's answer is shown before it is sent", async () => {
  const server = await serve(inputRequired({ s: sampleAsk }, "s"), complete("ok"));
  const asked: unknown[] = [];
  const ran = await call(server, ["edit", ".", "Capital of Spain?", ".", "run", "send"], {
    model: async (params) => {
      asked.push(params);
      return { role: "assistant", content: { type: "text", text: "Madrid" }, model: "m-1" };
    },
  });
  expect(ran.code).toBe(exitCodes.done);
  expect(asked).toMatchObject([
    { systemPrompt: "Be brief", messages: [{ content: { text: "Capital of Spain?" } }] },
  ]);
  expect(ran.dialog).toContain('answer of "m-1"');
  expect(responses(server)).toMatchObject({ s: { content: { text: "Madrid" } } });
});

test("refusing a sampling or roots ask ends the call with its own code and sends nothing", async () => {
  for (const ask of [sampleAsk, { method: "roots/list" }]) {
    const server = await serve(inputRequired({ s: ask }, "s"));
    expect(await call(server, ["refuse"])).toMatchObject({
      code: exitCodes.refusedByPerson,
      output: "",
    });
    expect(server.calls).toHaveLength(1);
  }
});

test("roots are shown and told after a send only, and none can be told instead", async () => {
  const roots = [{ uri: "file:///home/ann/work", name: "work" }];
  for (const [line, told] of [
    ["send", roots],
    ["none", []],
  ] as const) {
    const server = await serve(inputRequired({ r: { method: "roots/list" } }, "s"), complete("ok"));
    const ran = await call(server, [line], { roots });
    expect(ran.dialog).toContain("file:///home/ann/work (work)");
    expect(responses(server)).toEqual({ r: { roots: told } });
  }
});
