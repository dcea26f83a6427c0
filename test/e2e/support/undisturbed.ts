/**
 * The undisturbed run of a scenario: the points that it comes to, what the client sees, what happens outside. Every
 * disturbed run is compared with it.
 */
import { converse, type Seen } from "./dialogue.ts";
import type { Composition } from "./messages.ts";
import { CaseWorld, type Facts } from "./outside.ts";
import type { Scenario } from "./scenarios.ts";
import type { Spares } from "./spares.ts";
import { sendCall } from "./wire.ts";

/** What a run shows to those who look from outside. */
export interface Ending {
  readonly seen: Seen;
  readonly facts: Facts;
}

/** An undisturbed run. */
export interface Trace extends Ending {
  /** Names of the points, in order. */
  readonly points: readonly string[];
}

/** How the cases of a matrix are set up. */
export interface CaseSetup {
  readonly scenario: Scenario;
  readonly composition?: Partial<Composition>;
  /** Called with the world before anything is served. */
  readonly prepare?: (world: CaseWorld) => Promise<void>;
}

/** Runs a scenario undisturbed. */
export async function trace(setup: CaseSetup, spares: Spares): Promise<Trace> {
  const world = await CaseWorld.start();
  try {
    await setup.prepare?.(world);
    const server = spares.take();
    await server.open(world.composition(setup.composition));
    const seen = await converse(setup.scenario, (params) =>
      server.unlessItFails(sendCall(server.url, params).reply),
    );
    const points = await server.close();
    spares.giveBack(server);
    return { seen, points, facts: await world.facts() };
  } finally {
    await world.close();
  }
}
