/**
 * What goes wrong on purpose in the outside world. Told by `POST /faults`, kept in memory, gone with the process.
 *
 * A fault hits requests that do something (POST) unless it names another method, so that whoever breaks the
 * service can still count in it. An e-mail that the SMTP server takes counts as `POST /mails`.
 */
import * as z from "zod";

/** What every fault has: which requests it hits, and how many. */
interface Aim {
  /** Hits requests whose path begins so. Default all. */
  readonly path: string;
  readonly method: "GET" | "POST";
  /** Ends after so many hits; without it, when all faults are ended. */
  readonly count?: number | undefined;
}

/** Before the work is done, or after it and before the reply. */
type When = "before" | "after";

/** One thing that goes wrong. */
export type Fault = Aim &
  (
    | { readonly kind: "delay"; readonly ms: number; readonly when: When }
    /** Cuts the connection without a reply. */
    | { readonly kind: "drop"; readonly when: When }
    /** Answers with a 5xx. */
    | { readonly kind: "fail"; readonly status: number; readonly when: When }
    /** Answers 503 before anything is done, so that a client may know that nothing happened. */
    | { readonly kind: "outage" }
    /** Makes idempotency keys mean nothing. */
    | { readonly kind: "ignoreKeys" }
  );

const aim = {
  path: z.string().startsWith("/").default("/"),
  method: z.enum(["GET", "POST"]).default("POST"),
  count: z.int().positive().optional(),
};
const when = z.enum(["before", "after"]);
const ms = z.int().min(0).max(60_000);
const status = z.int().min(500).max(599);

const fault: z.ZodType<Fault> = z.discriminatedUnion("kind", [
  z.strictObject({ kind: z.literal("delay"), ms, when: when.default("before"), ...aim }),
  z.strictObject({ kind: z.literal("drop"), when: when.default("after"), ...aim }),
  z.strictObject({
    kind: z.literal("fail"),
    status: status.default(500),
    when: when.default("before"),
    ...aim,
  }),
  z.strictObject({ kind: z.literal("outage"), ...aim }),
  z.strictObject({ kind: z.literal("ignoreKeys"), ...aim }),
]);

const none = z.strictObject({ kind: z.literal("none") });

/** What hits one request: what comes before its work, what after, and whether keys count. */
export interface Hit {
  readonly before: readonly Fault[];
  readonly after: readonly Fault[];
  readonly ignoreKeys: boolean;
}

/** The faults in force. */
export class Faults {
  #active: { readonly fault: Fault; left: number }[] = [];

  /** Adds one fault or several; `{kind: "none"}` ends all. @throws ZodError naming what is wrong with them */
  add(input: unknown): readonly Fault[] {
    if (none.safeParse(input).success) {
      this.clear();
      return [];
    }
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
