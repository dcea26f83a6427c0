/**
 * One case of a kill matrix: the server process is killed at one point, another one goes on with the same data, and
 * the client repeats what it has no reply to.
 */
import { converse } from "./dialogue.ts";
import { CaseWorld } from "./outside.ts";
import { letGo, type ServerProcess } from "./serverProcess.ts";
import type { Spares } from "./spares.ts";
import type { CaseSetup, Ending, Trace } from "./undisturbed.ts";
import { sendCall } from "./wire.ts";

/**
 * Runs a scenario and kills the server at the given points: at the first of them that number of points after the
 * start, at each further one that number after the restart.
 */
export async function killAt(
  setup: CaseSetup,
  places: readonly number[],
  expected: Trace,
  spares: Spares,
): Promise<Ending> {
  const world = await CaseWorld.start();
  const composition = world.composition(setup.composition);
  const left = [...places];
  let serving: Promise<ServerProcess>;
  let reachedFirst: () => void = () => undefined;
  const killedOnce = new Promise<void>((resolve) => {
    reachedFirst = resolve;
  });

  const serve = async (): Promise<ServerProcess> => {
    const server = spares.take();
    const isFirst = left.length === places.length;
    const place = left.shift();
    let count = 0;
    // A process may be killed while it opens, by a run that it takes over: it never says that it is open then.
    let goOnWith: (next: Promise<ServerProcess>) => void = () => undefined;
    const next = new Promise<ServerProcess>((resolve) => {
      goOnWith = resolve;
    });
    server.steering =
      place === undefined
        ? letGo
        : {
            reached(point) {
              count += 1;
              if (count - 1 < place) point.go();
              else if (count - 1 === place) {
                if (isFirst) requireSame(server.names, expected.points);
                serving = spares.kill(server).then(serve);
                serving.catch(() => undefined);
                goOnWith(serving);
                reachedFirst();
              }
            },
          };
    return Promise.race([server.open(composition).then(() => server), next]);
  };

  try {
    await setup.prepare?.(world);
    serving = serve();
    const seen = await converse(setup.scenario, async (params) => {
      const server = await serving;
      return server.unlessItFails(sendCall(server.url, params).reply);
    });
    // The last points come after the last reply.
    await killedOnce;
    const last = await serving;
    last.steering = letGo;
    await last.close();
    spares.giveBack(last);
    return { seen, facts: await world.facts() };
  } finally {
    await world.close();
  }
}

/** A trace says where a run will be only if every run goes the same way. */
function requireSame(names: readonly string[], expected: readonly string[]): void {
  for (const [place, name] of names.entries()) {
    if (expected[place] === name) continue;
    throw new Error(`point ${place} is "${name}" now and was "${expected[place]}" in the trace`);
  }
}
