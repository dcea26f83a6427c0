/**
 * What the author's code may do with a server while it is served: finish URL asks, switch tools and prompts, tell that a resource changed.
 *
 * `defineServer` puts it on what it returns, so that a web page beside the handlers reaches it; each runtime in this process
 * that serves the definition is attached to it from its start to its close.
 *
 * S1 What is said reaches every runtime that serves the definition here; they may have stores of their own.
 * S2 A definition that nobody serves in this process has nobody to say it to: TypeError.
 */
import { isRepriseError } from "@reprise/errors";
import type { PromptDefinition, ServerDefinition, ToolDefinition } from "./definition.ts";
import type { ElicitationCompleter } from "./elicitations.ts";
import type { Switch } from "./switches.ts";

/** What a runtime offers to the author's code. */
export interface ServerControls {
  readonly elicitations: ElicitationCompleter;
  readonly tools: Switch;
  readonly prompts: Switch;
  /**
   * Tells all clients that follow the resource, on all instances, that its contents changed.
   * @throws RangeError for a URI above 4 KB; RepriseError STORE_UNAVAILABLE
   */
  resourceUpdated(uri: string): Promise<void>;
}

/** A server as `defineServer` gives it: the definition, and what can be done while it is served. */
export interface Server extends ServerDefinition, Omit<ServerControls, "tools" | "prompts"> {
  /** The tools, and their switches. */
  readonly tools: readonly ToolDefinition[] & Switch;
  /** The prompts, and their switches. */
  readonly prompts: readonly PromptDefinition[] & Switch;
}

const attached = new WeakMap<object, Set<ServerControls>>();

/** A runtime serves the definition from now on; returns how to end that. */
export function attach(server: ServerDefinition, controls: ServerControls): () => void {
  const all = attached.get(server) ?? new Set();
  attached.set(server, all.add(controls));
  return () => {
    all.delete(controls);
  };
}

/** A copy, so that nothing of the author's is changed; what is no list is left for the compilation to refuse. */
function listOf<T>(list: readonly T[] = []): T[] {
  return Array.isArray(list) ? [...list] : (list as T[]);
}

/** The definition with its controls. */
export function controlled(definition: ServerDefinition): Server {
  const runtimes = (): readonly ServerControls[] => {
    const found = [...(attached.get(server) ?? [])];
    if (found.length > 0) return found;
    throw new TypeError(`server "${definition.name}" is not served in this process`);
  };
  const each = async (say: (controls: ServerControls) => Promise<void>): Promise<void> => {
    await Promise.all(runtimes().map(say));
  };
  const server: Server = {
    ...definition,
    tools: Object.assign(listOf(definition.tools), {
      enable: (name: string) => each(({ tools }) => tools.enable(name)),
      disable: (name: string) => each(({ tools }) => tools.disable(name)),
    }),
    prompts: Object.assign(listOf(definition.prompts), {
      enable: (name: string) => each(({ prompts }) => prompts.enable(name)),
      disable: (name: string) => each(({ prompts }) => prompts.disable(name)),
    }),
    elicitations: {
      async complete(id, completion) {
        let refusal: unknown;
        for (const { elicitations } of runtimes()) {
          try {
            return await elicitations.complete(id, completion);
          } catch (error) {
            // It may be another runtime's.
            if (!isRepriseError(error, "ELICITATION_REFUSED")) throw error;
            refusal = error;
          }
        }
        throw refusal;
      },
    },
    resourceUpdated: (uri) => each((controls) => controls.resourceUpdated(uri)),
  };
  return server;
}
