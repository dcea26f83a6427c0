/** A server with a handler for each way that a legacy call can go, and a count of what they did. */
import {
  defineServer,
  prompt,
  resource,
  resourceTemplate,
  type ServerDefinition,
  tool,
} from "@reprise/runtime";

export interface Watched {
  readonly server: ServerDefinition;
  /** What happened, in order. */
  readonly events: string[];
  /** Lets `wait` go on. */
  release(): void;
  /** Resolves when `wait` is entered. */
  readonly entered: Promise<void>;
}

const textOf = (value: unknown): string => (typeof value === "string" ? value : "?");

const text = (value: string) => ({
  role: "user" as const,
  content: { type: "text" as const, text: value },
});

export function watchedServer(): Watched {
  const events: string[] = [];
  let release: () => void = () => undefined;
  let enter: () => void = () => undefined;
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const entered = new Promise<void>((resolve) => {
    enter = resolve;
  });
  const server = defineServer({
    name: "watched",
    version: "1.0.0",
    instructions: "Watch.",
    tools: [
      tool({
        name: "greet",
        title: "Greeting",
        description: "Greets",
        input: { type: "object", properties: { name: { type: "string" } }, required: ["name"] },
        handler: ({ name }) => `Hello, ${textOf(name)}.`,
      }),
      tool({
        name: "delete_folder",
        description: "Deletes after a yes",
        input: { type: "object", properties: { path: { type: "string" } } },
        async handler({ path }, ctx) {
          events.push("asks");
          if (!(await ctx.confirm(`Delete ${textOf(path)}?`))) return "Kept.";
          await ctx.step("delete", () => events.push("deleted"));
          return "Deleted.";
        },
      }),
      tool({
        name: "ask_two",
        description: "Asks two things at once",
        async handler(_args, ctx) {
          const [one, two] = await Promise.all([
            ctx.confirm("One?", { key: "one" }),
            ctx.confirm("Two?", { key: "two" }),
          ]);
          return `${String(one)} ${String(two)}`;
        },
      }),
      tool({
        name: "ask_later",
        description: "Asks when the first answer is there",
        async handler(_args, ctx) {
          const more = async () => {
            const first = await ctx.confirm("First?", { key: "first" });
            return [first, await ctx.confirm("Next?", { key: "next" })];
          };
          const [other, both] = await Promise.all([
            ctx.confirm("Other?", { key: "other" }),
            more(),
          ]);
          return [other, ...both].join(" ");
        },
      }),
      tool({
        name: "needs_sampling",
        description: "Can't do without sampling",
        needs: { sampling: true },
        handler: () => "unreachable without",
      }),
      tool({
        name: "sample",
        description: "Asks the model",
        async handler(_args, ctx) {
          const messages = [text("2+2?")];
          return (await ctx.sample({ messages, maxTokens: 5 })).text;
        },
      }),
      tool({
        name: "count",
        description: "Reports progress and logs",
        async handler(_args, ctx) {
          for (const value of [1, 2]) {
            ctx.progress(value, 2);
            ctx.log("info", `at ${value}`);
            ctx.log("debug", `detail of ${value}`);
          }
          return "Counted.";
        },
      }),
      tool({
        name: "wait",
        description: "Waits until it is let go",
        async handler(_args, ctx) {
          events.push("waits");
          enter();
          ctx.progress(1);
          await Promise.race([
            released,
            new Promise((_resolve, reject) => {
              ctx.signal.addEventListener("abort", () => {
                events.push("aborted");
                reject(new Error("aborted"));
              });
            }),
          ]);
          await ctx.step("effect", () => events.push("effect"));
          return "Done.";
        },
      }),
    ],
    prompts: [
      prompt({
        name: "hello",
        description: "Says hello",
        input: { type: "object", properties: { who: { type: "string" } } },
        complete: { who: () => ["world", "you"] },
        handler: ({ who }) => `Hello ${who === undefined ? "nobody" : textOf(who)}`,
      }),
    ],
    resources: [
      resource({ uri: "test://one", name: "one", description: "One", handler: () => "first" }),
    ],
    resourceTemplates: [
      resourceTemplate({
        uriTemplate: "test://item/{id}",
        name: "item",
        description: "Items",
        handler: ({ id }) => `item ${id}`,
      }),
    ],
  });
  return { server, events, entered, release: () => release() };
}
