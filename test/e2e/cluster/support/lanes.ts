/**
 * Cases side by side: most of them wait for the end of a lease, not for a processor.
 */

/** Much longer than any case takes on a machine that has other work: one that hangs is to be named, and not the test that it is part of. */
const longestCaseMs = 600_000;

/**
 * Works through items with a few lanes at a time, in order of start. The first failure is thrown when the other lanes have
 * ended their items; with `describe`, it says of which item.
 */
export async function inLanes<Item>(
  lanes: number,
  items: readonly Item[],
  work: (item: Item) => Promise<void>,
  describe: (item: Item) => string = String,
): Promise<void> {
  const left = items.values();
  let failed = false;
  const lane = async (): Promise<void> => {
    for (const item of left) {
      if (failed) return;
      try {
        await inTime(work(item));
      } catch (error) {
        failed = true;
        throw new Error(`${describe(item)}: ${error instanceof Error ? error.message : "failed"}`, {
          cause: error,
        });
      }
    }
  };
  const ends = await Promise.allSettled(Array.from({ length: lanes }, lane));
  const failure = ends.find((end) => end.status === "rejected");
  if (failure !== undefined) throw failure.reason;
}

async function inTime(work: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error("it hangs")), longestCaseMs);
  });
  try {
    await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
