/**
 * An author's server with a hand around every step and read: to know when their functions run, and to keep them from running.
 *
 * Called by the harness and by the replay of recorded runs. Nothing of the author's definition is changed; all else of ctx is
 * the runtime's own.
 */
import type {
  Context,
  ServerDefinition,
  StepContext,
  StepOptions,
  ToolDefinition,
} from "@reprise/runtime";

/** Executes the function of a step or read, or does not. */
export type Around = <T>(
  kind: "step" | "read",
  name: string,
  work: () => Promise<T> | T,
) => Promise<T>;

/** The definition with `around` in each of its tools. */
export function watchedServer(server: ServerDefinition, around: Around): ServerDefinition {
  const tools = (server.tools ?? []).map(
    (tool): ToolDefinition => ({
      ...tool,
      handler: (args, ctx) => tool.handler(args, watchedContext(ctx, around)),
    }),
  );
  return { ...server, tools };
}

function watchedContext(ctx: Context, around: Around): Context {
  const step = <T>(
    name: string,
    fn: (step: StepContext) => Promise<T> | T,
    options?: StepOptions<T>,
  ): Promise<T> =>
    ctx.step(
      name,
      (given) => around("step", name, () => fn(given)),
      watched(name, options, around),
    );
  const read = <T>(name: string, fn: () => Promise<T> | T): Promise<T> =>
    ctx.read(name, () => around("read", name, fn));
  return new Proxy(ctx, {
    get(target, member) {
      if (member === "step") return step;
      if (member === "read") return read;
      const value: unknown = Reflect.get(target, member, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}

/** Looking a key up is a call to the outside as well. */
function watched<T>(
  name: string,
  options: StepOptions<T> | undefined,
  around: Around,
): StepOptions<T> | undefined {
  const policy = options?.onUncertain;
  if (options === undefined || typeof policy !== "function") return options;
  return { ...options, onUncertain: (given) => around("step", name, () => policy(given)) };
}
