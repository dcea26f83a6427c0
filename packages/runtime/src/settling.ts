/**
 * Waiting for a handler whose attempt has ended: its pending promises were rejected, and its `finally` blocks run.
 *
 * Called by the attempt. It stops nothing: who still runs after the grace is let go.
 */
import type { Clock } from "./clock.ts";

/**
 * Nearly every handler ends within so many continuations. A timer for each of those, called off in the turn that made it, was measured
 * to keep every suspended call's memory until a major collection: half of the CPU time went into copying it.
 */
const CONTINUATIONS = 8;

/**
 * Resolves when the handler has settled, or after `graceMs`. Called while it has not.
 * @param hasSettled whether it has by now
 * @param onSettled takes what is to be called when it does
 */
export async function settledWithin(
  graceMs: number,
  clock: Clock,
  hasSettled: () => boolean,
  onSettled: (told: () => void) => void,
): Promise<void> {
  for (let count = 0; count < CONTINUATIONS; count += 1) {
    await Promise.resolve();
    if (hasSettled()) return;
  }
  await new Promise<void>((resolve) => {
    const cancel = clock.after(graceMs, resolve);
    onSettled(() => {
      cancel();
      resolve();
    });
  });
}
