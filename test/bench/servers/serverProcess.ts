/**
 * What every server process of the bench does: announce its endpoint to the parent and end when asked.
 */

/** A server that can be closed. */
export interface Served {
  readonly url: string;
  close(): Promise<void>;
}

/** The message that a server sends once it accepts connections. */
export interface Ready {
  readonly url: string;
}

/** Announces a started server over IPC and closes it when the parent disconnects or sends SIGTERM. */
export function announce(served: Served): void {
  const ready: Ready = { url: served.url };
  const end = (): void => {
    // Exits by name: a profile is written at exit, and an open keep-alive connection must not delay it.
    void served.close().finally(() => process.exit(0));
  };
  process.once("SIGTERM", end);
  process.once("disconnect", end);
  process.send?.(ready);
}
