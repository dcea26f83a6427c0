/**
 * A process that opens one store after the other, each with others at the same moment, and uses it at once.
 *
 * Started by `opening.test.ts`. Each message is a directory; the answer is what went wrong, or `"fine"`.
 */
import { openLmdbStore } from "@reprise/store-lmdb";
import { completed, creation, known, progress } from "./inputs.ts";

const claims = 12;
const steps = 3;

async function use(directory: string): Promise<void> {
  const store = await openLmdbStore({ directory, leaseMs: 120_000 });
  try {
    await store.createRun(creation("run1", { end: { to: "interrupted" } }));
    await Promise.all(
      Array.from({ length: claims }, async (_, place) => {
        const waiter = `${process.pid}-${place}`;
        const reply = await store.claimKnown({ ...known("run1", waiter), token: waiter });
        if (reply.tag !== "CLAIMED") return;
        for (let sequence = 1; sequence <= steps; sequence += 1) {
          await store.append(reply.ref, progress(sequence));
        }
        await store.endRound(reply.ref, progress(steps + 1), completed);
      }),
    );
    const record = await store.load("run1");
    if (record === undefined) throw new Error("the run is gone");
  } finally {
    await store.close();
  }
}

process.on("message", (directory: string) => {
  use(directory).then(
    () => process.send?.("fine"),
    (error: unknown) => process.send?.(String(error)),
  );
});
process.on("disconnect", () => process.exit());
process.send?.("ready");
