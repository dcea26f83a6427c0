/**
 * What authors may write, as the compiler sees it. Nothing runs: `npm run check` compiles this file, and a line that should be
 * refused must be.
 */
import { type Context, defineServer, prompt, tool } from "reprise";
import * as z from "zod";

const same = <Expected>(value: Expected): Expected => value;

export const server = defineServer({
  name: "types",
  tools: [
    tool({
      name: "typed_input",
      description: "Arguments have the types of their schema",
      input: z.object({ path: z.string(), depth: z.number().default(1) }),
      handler: ({ path, depth }) => `${same<string>(path)} ${same<number>(depth)}`,
    }),
    tool({
      name: "content",
      description: "Content is inferred without annotations",
      handler: () => ({ type: "image", data: "", mimeType: "image/png" }),
    }),
    tool({
      name: "content_list",
      description: "So is a list of it, from an async handler",
      handler: async () => [{ type: "text", text: "a" }],
    }),
    tool({
      name: "structured",
      description: "An output schema types the result",
      input: z.object({ n: z.number() }),
      output: z.object({ twice: z.number() }),
      handler: ({ n }) => ({ twice: n * 2 }),
    }),
    tool({
      name: "json_schema",
      description: "Plain JSON Schema gives JSON values",
      input: { type: "object", properties: { city: { type: "string" } } },
      handler: (args) => JSON.stringify(args["city"]),
    }),
    tool({
      name: "nothing",
      description: "No input, no result",
      handler: async (_args, ctx) => {
        const order = await ctx.read("order", () => ({ id: 1 }));
        same<number>(order.id);
        const form = await ctx.elicit("Where?", z.object({ address: z.string() }));
        if (form.action === "accept") same<string>(form.content.address);
        const refund = await ctx.step("refund", ({ idempotencyKey }) => ({ key: idempotencyKey }), {
          onUncertain: async () => undefined,
        });
        same<string>(refund.key);
      },
    }),
  ],
  prompts: [
    prompt({
      name: "typed_prompt",
      description: "Prompts as well",
      input: z.object({ topic: z.string() }),
      handler: ({ topic }) => `About ${same<string>(topic)}`,
    }),
  ],
});

tool({
  name: "wrong_output",
  description: "A result of another shape is refused",
  output: z.object({ twice: z.number() }),
  // @ts-expect-error because the output schema has a number: what a client relies on must not compile as text
  handler: () => ({ twice: "2" }),
});

tool({
  name: "wrong_input",
  description: "An argument that the schema does not have is refused",
  input: z.object({ n: z.number() }),
  // @ts-expect-error because the input schema has no such member: a misspelt argument must not compile
  handler: ({ m }) => String(m),
});

export async function misuse(ctx: Context): Promise<void> {
  // @ts-expect-error because a confirm needs its question: one without words must not compile
  await ctx.confirm();
  // @ts-expect-error because a policy is one of three: a misspelt one must not compile
  await ctx.step("x", () => 1, { onUncertain: "ignore" });
}
