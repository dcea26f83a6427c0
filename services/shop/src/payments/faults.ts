/**
 * What goes wrong on purpose in the outside world. Told by `POST /faults`, kept in memory, gone with the process.
 *
 * A fault hits requests that do something (POST) unless it names another method, so that whoever breaks the
 * service can still count in it. An e-mail that the SMTP server takes counts as `POST /mails`.
 */
import * as z from "zod";

const aim = {
  /** Hits requests whose path begins so. */
  path: z.string().startsWith("/").default("/"),
  method: z.enum(["GET", "POST"]).default("POST"),
  /** Ends after so many hits; without it, by `DELETE /faults`. */
  count: z.int().positive().optional(),
};
/** Before the work is done, or after it and before the reply. */
const when = z.enum(["before", "after"]);

const fault = z.discriminatedUnion("kind", [
  z.strictObject({
    kind: z.literal("delay"),
    ms: z.int().min(0).max(60_000),
    when: when.default("before"),
    ...aim,
  }),
  z.strictObject({ kind: z.literal("drop"), when: when.default("after"), ...aim }),
  z.strictObject({
    kind: z.literal("fail"),
    status: z.int().min(500).max(599).default(500),
    when: when.default("before"),
    ...aim,
  }),
  z.strictObject({ kind: z.literal("outage"), ...aim }),
  z.strictObject({ kind: z.literal("ignoreKeys"), ...aim }),
]);

/**
 * One thing that goes wrong: `delay` waits `ms`, `drop` cuts the connection without a reply, `fail` answers with a
 * 5xx, `outage` answers 503 before anything is done (so a client may know that nothing happened), `ignoreKeys`
 * makes idempotency keys mean nothing.
 */
export type Fault = z.infer<typeof fault>;

/** What hits one request: what comes before its work, what after, and whether keys count. */
export interface Hit {
  readonly before: readonly Fault[];
  readonly after: readonly Fault[];
  readonly ignoreKeys: boolean;
}

/** The faults in force. */
export class Faults {
  #active: { readonly fault: Fault; left: number }[] = [];

  /** Adds one fault or several. @throws ZodError naming what is wrong with them */
  add(input: unknown): readonly Fault[] {
    const faults = z.array(fault).parse(Array.isArray(input) ? input : [input]);
    for (const fault of faults)
      this.#active.push({ fault, left: fault.count ?? Number.POSITIVE_INFINITY });
    return faults;
  }

  list(): readonly Fault[] {
    return this.#active.map(({ fault }) => fault);
  }

  clear(): void {
    this.#active = [];
  }

  /** Takes what hits this request, in the order it was added. */
  take(method: string, path: string): Hit {
    const hitting = this.#active.filter(
      ({ fault }) => fault.method === method && path.startsWith(fault.path),
    );
    for (const entry of hitting) entry.left -= 1;
    this.#active = this.#active.filter(({ left }) => left > 0);

    const faults = hitting.map(({ fault }) => fault);
    const after = faults.filter((fault) => "when" in fault && fault.when === "after");
    const before = faults.filter((fault) => fault.kind !== "ignoreKeys" && !after.includes(fault));
    return { before, after, ignoreKeys: faults.some(({ kind }) => kind === "ignoreKeys") };
  }
}
