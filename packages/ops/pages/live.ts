/**
 * What a page shows, kept up to date: read once, and again when the stream says that something has changed.
 *
 * One stream for the whole window. A page reads at most every 1.5 seconds, however often the stream speaks; while nothing can be
 * read, what was there stays, with the failure beside it.
 */
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import type { Pulse } from "../src/wire.ts";
import { ApiError, base, get } from "./api.ts";

/** How the stream stands. */
export type Connection = "connecting" | "live" | "store away";

const READ_AGAIN_MS = 1500;
const TRY_AGAIN_MS = 4000;

type Listener = (state: Connection) => void;
const listeners = new Set<Listener>();
let stream: EventSource | undefined;
let state: Connection = "connecting";

function tell(next: Connection): void {
  state = next;
  for (const listener of listeners) listener(next);
}

function open(): void {
  const opened = new EventSource(`${base}/api/live`);
  stream = opened;
  opened.addEventListener("pulse", (event: MessageEvent<string>) => {
    const { ok, counts } = JSON.parse(event.data) as Pulse;
    tell(ok && counts !== undefined ? "live" : "store away");
  });
  opened.addEventListener("error", () => {
    tell("connecting");
    // The browser connects again by itself, but not after an answer that is no stream: a store that is away, a proxy's 502.
    if (opened.readyState === EventSource.CLOSED) setTimeout(open, TRY_AGAIN_MS);
  });
}

function listen(listener: Listener): () => void {
  listeners.add(listener);
  if (stream === undefined) open();
  return () => {
    listeners.delete(listener);
  };
}

/** How the stream stands now. */
export function useConnection(): Connection {
  const [shown, show] = useState(state);
  useEffect(() => listen(show), []);
  return shown;
}

/** What was read, and what went wrong with the newest read. */
export interface Live<T> {
  readonly data: T | undefined;
  readonly error: ApiError | undefined;
  /** When `data` was read, in epoch milliseconds. */
  readonly readAt: number;
  readonly reload: () => void;
}

/** Reads `path` of the API and keeps it up to date. Undefined reads nothing. */
export function useLive<T>(path: string | undefined): Live<T> {
  const [shown, show] = useState<Omit<Live<T>, "reload"> & { readonly path: string | undefined }>({
    path,
    data: undefined,
    error: undefined,
    readAt: 0,
  });
  const [turn, setTurn] = useState(0);
  const reload = useCallback(() => setTurn((before) => before + 1), []);
  const lastRead = useRef(0);

  useEffect(() => {
    if (path === undefined) return undefined;
    let isOver = false;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const read = (): void => {
      timer = undefined;
      lastRead.current = Date.now();
      get<T>(path).then(
        (data) => {
          if (!isOver) show({ path, data, error: undefined, readAt: Date.now() });
        },
        (error: unknown) => {
          if (isOver) return;
          const failure = error instanceof ApiError ? error : new ApiError("FAILED", String(error));
          show((before) => ({
            path,
            data: before.path === path ? before.data : undefined,
            error: failure,
            readAt: before.readAt,
          }));
          // A refusal stays one; what is away may come back without a word of the stream.
          if (failure.code === "UNREACHABLE" || failure.code === "STORE_UNAVAILABLE") {
            timer ??= setTimeout(read, TRY_AGAIN_MS);
          }
        },
      );
    };
    read();
    const stop = listen(() => {
      timer ??= setTimeout(read, Math.max(0, READ_AGAIN_MS - (Date.now() - lastRead.current)));
    });
    return () => {
      isOver = true;
      stop();
      clearTimeout(timer);
    };
  }, [path, turn]);

  const { data, error, readAt } =
    shown.path === path ? shown : { data: undefined, error: undefined, readAt: 0 };
  return { data, error, readAt, reload };
}
