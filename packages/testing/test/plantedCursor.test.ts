/**
 * The checker can fail where no store is at fault: a replay cursor that starts a step while entries are undelivered.
 *
 * The runtime gets it in place of the real one by a mock of its module; nothing else is changed.
 */
import { simulate } from "@reprise/testing/simulation";
import { expect, test, vi } from "vitest";

vi.mock("@reprise/journal", async (original) => {
  const journal = await original<typeof import("@reprise/journal")>();
  class HastyCursor extends journal.ReplayCursor {
    override wake(): void {
      super.wake();
      if (!this.isReplaying) return;
      queueMicrotask(() => {
        for (const operation of this.waiting) if (operation.kind === "step") operation.goLive();
      });
    }
  }
  return { ...journal, ReplayCursor: HastyCursor };
});

test("the simulation finds, within 1,000 seeds, that a step starts while entries are undelivered", async () => {
  const { violations } = await simulate({ seeds: 1_000, stopAfter: 20 });
  expect(violations.map(({ message }) => message)).toContainEqual(
    expect.stringMatching(/is recorded and was entered again|happened \d+ times/),
  );
}, 120_000);
