/**
 * Signing in by a link that only a terminal of this machine shows: for development, on loopback.
 *
 * 1. A link is random (256 bits), good for one use and for ten minutes, whichever ends first. Only its digest is kept.
 * 2. Who used it up, or came too late, can ask for another one: it is printed where the first one was. Whoever sees that
 *    terminal owns the process anyway. At most one in ten seconds.
 */
import { createHash, randomBytes } from "node:crypto";
import { type Clock, systemClock } from "@reprise/runtime";
import type { Arrival, Beginning, Entrance, SignIn, SignInContext } from "./signIn.ts";

const LIFE_MS = 10 * 60 * 1000;
const AGAIN_MS = 10_000;

/** A way to sign in by links. */
export interface LinkSignIn extends SignIn {
  /** Makes a link: path and query, to be put behind the dashboard's address: `enter?link=...`. The one before ends. */
  newLink(): string;
}

/** Options of `createLinkSignIn`. */
export interface LinkSignInOptions {
  /** Told of each link that was asked for on the page, as `newLink` gives it. Prints it. */
  readonly print: (link: string) => void;
  /** Who acts, in the audit log. Default `local operator`. */
  readonly actor?: string;
}

/** Makes one. Everybody who comes with a link is an operator. */
export function createLinkSignIn(options: LinkSignInOptions): LinkSignIn {
  return new Links(options);
}

class Links implements LinkSignIn {
  readonly invitation: string =
    "This dashboard opens with a link that was printed where the server was started. Each link works once, within ten minutes.";
  readonly button: string = "Print a new link there";
  readonly loopbackOnly: boolean = true;
  readonly secure: boolean = false;
  readonly #options: LinkSignInOptions;
  #clock: Clock = systemClock;
  #open: { readonly digest: string; readonly until: number } | undefined;
  #printedAt = Number.NEGATIVE_INFINITY;

  constructor(options: LinkSignInOptions) {
    this.#options = options;
  }

  start({ clock }: SignInContext): void {
    this.#clock = clock;
  }

  newLink(): string {
    const link = randomBytes(32).toString("base64url");
    this.#open = { digest: digestOf(link), until: this.#clock.now() + LIFE_MS };
    return `enter?link=${link}`;
  }

  async begin(): Promise<Beginning> {
    const now = this.#clock.monotonic();
    if (now - this.#printedAt >= AGAIN_MS) {
      this.#printedAt = now;
      this.#options.print(this.newLink());
    }
    return { kind: "told", text: "A new link is in the terminal of the server. Open that one." };
  }

  async enter({ query }: Arrival): Promise<Entrance> {
    const link = query.get("link");
    const open = this.#open;
    const isGood =
      link !== null &&
      open !== undefined &&
      digestOf(link) === open.digest &&
      this.#clock.now() < open.until;
    if (!isGood) return { ok: false, why: "This link was used already, or it is too old." };
    this.#open = undefined;
    const { actor = "local operator" } = this.#options;
    return { ok: true, person: { actor, role: "operator" }, to: undefined };
  }
}

/** Digests are compared, so the time of a comparison tells nothing of a link. */
function digestOf(link: string): string {
  return createHash("sha256").update(link).digest("base64url");
}
