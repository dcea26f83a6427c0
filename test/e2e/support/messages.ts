/**
 * What a test and the server process that it steers say to each other over the IPC pipe.
 *
 * The process announces every point that it comes to and waits there; the test lets it go on, or kills it where
 * it stands. Messages arrive in the order in which they were sent, and both sides lean on that.
 */

/** A process that is one of many instances: its store, its keys and its jobs are in a Redis. */
export interface MemberPlace {
  /** A front without workers executes by itself. */
  readonly role: "front" | "inline front" | "worker";
  readonly redisUrl: string;
  readonly namespace: string;
}

/** Which server a process serves, on which data, with which outside world. */
export interface Composition {
  readonly server: "shop" | "plainSteps" | "blockedSteps";
  /** Absent: an instance of its own, with the embedded store. */
  readonly member?: MemberPlace;
  /** Where the embedded store lives; several processes may share it. */
  readonly dataDir: string;
  readonly outsideUrl: string;
  readonly smtpPort: number;
  /** Default: the store's. */
  readonly leaseMs?: number;
  /** A file that gets a line each time a handler comes past an accepted confirm. */
  readonly confirmedFile?: string;
}

/** What the test asks for. */
export type Command =
  | { readonly do: "open"; readonly composition: Composition }
  /** Ends what was opened, in an orderly way; the process stays for the next `open`. */
  | { readonly do: "close" }
  /** Go on from a point. */
  | { readonly do: "go"; readonly point: number }
  /** Stop by SIGSTOP as soon as no store call is under way, which would hold the store's lock. */
  | { readonly do: "freeze" };

/** What the process tells. */
export type Report =
  /** Its modules are loaded. */
  | { readonly tells: "loaded" }
  /** Without an address: a worker. */
  | { readonly tells: "opened"; readonly url?: string }
  | { readonly tells: "closed" }
  /** It has come to a point and waits there. */
  | { readonly tells: "point"; readonly point: number; readonly name: string }
  /** A connection was closed before its response was through, and the server has heard of it. */
  | { readonly tells: "gone" }
  /** It is about to stop itself. */
  | { readonly tells: "freezing" }
  | { readonly tells: "failed"; readonly message: string };
