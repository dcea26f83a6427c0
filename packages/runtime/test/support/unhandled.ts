/**
 * A process of its own with a runtime in it: what becomes of rejections that nobody handles.
 *
 * The first argument says what happens: `branches` (several asks, one awaited), `foreign` (a rejection that is not ours), or
 * `listener` (the same, in a process that handles such rejections itself). Prints what it came to.
 */
import process from "node:process";
import { createStateSealer, ephemeralKeys } from "@reprise/request-state";
import {
  anonymous,
  type Context,
  createRuntime,
  defineServer,
  isSuspension,
  tool,
} from "@reprise/runtime";

const what = process.argv[2];

const branch = async (ctx: Context, key: string): Promise<string> => {
  const sure = await ctx.confirm(`${key}?`, { key });
  return sure ? key : "";
};

const runtime = createRuntime({
  store: "none",
  sealer: createStateSealer({ keys: ephemeralKeys() }),
  server: defineServer({
    name: "child",
    tools: [
      tool({
        name: "t",
        description: "d",
        async handler(_args, ctx) {
          const branches = [branch(ctx, "a"), branch(ctx, "b"), branch(ctx, "c")];
          return (await branches[0]) ?? "";
        },
      }),
    ],
  }),
});
if (what === "listener") {
  process.on("unhandledRejection", (reason) => {
    process.stdout.write(isSuspension(reason) ? "a suspension\n" : "a bug\n");
  });
}

const handler = runtime.catalog.findTool("t");
if (handler === undefined) throw new Error("no tool");
const reply = await runtime.execute({
  method: "tools/call",
  handler,
  target: "t",
  args: {},
  params: { name: "t" },
  caller: anonymous,
  client: { info: undefined, capabilities: { elicitation: {} }, protocolVersion: "2026-07-28" },
  requestState: undefined,
  inputResponses: undefined,
  idempotencyKey: undefined,
  logLevel: undefined,
  notifications: undefined,
  isGone: false,
  onGone: () => () => undefined,
});
process.stdout.write(`${reply.kind}\n`);
if (what !== "branches") void Promise.reject(new Error("a bug of the author's"));
// Whatever an unhandled rejection causes happens within these turns.
for (let turn = 0; turn < 10; turn += 1) await new Promise((resolve) => setImmediate(resolve));
process.stdout.write("alive\n");
