/**
 * How an operator ends a worker from afar: a notice to all that names one, which then stops as it does on SIGTERM.
 *
 * Notices are hints (sharedRecords.ts, S5): whoever asks sees by the list of instances what came of it, and may ask again.
 */
import type { SharedRecords } from "@reprise/runtime";
import { instanceName } from "./signals.ts";

const CHANNEL = "drain";

/** Names as history's list of instances has them. */
const listedAs = instanceName.replaceAll(/[^A-Za-z0-9_-]/g, "-").slice(0, 200);

/** Asks an instance to drain and end. @throws RepriseError STORE_UNAVAILABLE */
export async function askToDrain(shared: SharedRecords, instance: string): Promise<void> {
  await shared.publish(CHANNEL, instance);
}

/** Resolves when this process was asked to. @throws RepriseError STORE_UNAVAILABLE when it can't listen */
export async function listenForDrain(shared: SharedRecords): Promise<{ asked: Promise<void> }> {
  let drain: () => void = () => undefined;
  const asked = new Promise<void>((resolve) => {
    drain = resolve;
  });
  await shared.listen(CHANNEL, (instance) => {
    if (instance === listedAs) drain();
  });
  return { asked };
}
