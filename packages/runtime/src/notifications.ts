/**
 * What a request may hear while it waits, over all attempts that it waits for.
 */
import type { NotificationSink } from "./runtimeTypes.ts";

/**
 * A sink whose progress only grows (MCP 2026-07-28, "Progress": each notification must increase). Made once for a request: an
 * attempt that goes on for one that lost its lease starts counting anew, and the client must not see that.
 */
export function growing(sink: NotificationSink | undefined): NotificationSink | undefined {
  const send = sink?.progress;
  if (send === undefined) return sink;
  let last = Number.NEGATIVE_INFINITY;
  return {
    ...sink,
    progress(value, total, message) {
      if (!Number.isFinite(value) || value <= last) return;
      last = value;
      send(value, total, message);
    },
  };
}
