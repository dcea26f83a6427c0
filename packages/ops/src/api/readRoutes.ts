/**
 * What anybody who has signed in may look at. No route here returns a value (W1); all reads but a run's own are shared by
 * the pages that are open.
 */
import { RepriseError } from "@reprise/errors";
import type { FastifyInstance } from "fastify";
import type { Gate } from "../auth/gate.ts";
import type { OpsConfig } from "../options.ts";
import type { SharedReads } from "../sharedReads.ts";
import type {
  AuditPage,
  InstancesPage,
  KeysPage,
  Me,
  QueuesPage,
  RunsPage,
  RunView,
} from "../wire.ts";
import { actionNotes } from "./actions.ts";
import { fieldsOf, filterIn, neededText, numberIn, runIdIn, textIn } from "./input.ts";
import { readOverview } from "./overview.ts";
import { outlineOf } from "./runView.ts";

/** What the routes work with. */
export interface ReadParts {
  readonly config: OpsConfig;
  readonly gate: Gate;
  readonly reads: SharedReads;
}

const AUDITS_A_PAGE = 100;

/** Serves the GET routes of `/api`, and the search by key, which is a POST so that no key is in an address. */
export function serveReads(app: FastifyInstance, { config, gate, reads }: ReadParts): void {
  const { history, operator, queues, keys, workers, server } = config;

  app.get("/me", async (request): Promise<Me> => {
    const { actor, role, csrf } = gate.sessionOf(request);
    const has = {
      queues: queues !== undefined,
      keys: keys !== undefined,
      drain: workers !== undefined,
      board: queues !== undefined,
    };
    return { server, actor, role, csrf, has, actions: actionNotes };
  });

  app.get("/overview", () => reads.get("overview", () => readOverview(config)));

  app.get("/runs", async (request): Promise<RunsPage> => {
    const filter = filterIn(fieldsOf(request.query));
    return await reads.get(`runs ${JSON.stringify(filter)}`, () => history.list(filter));
  });

  app.get("/runs/:id", async (request): Promise<RunView> => {
    const runId = runIdIn(request.params);
    return await reads.get(`run ${runId}`, async () => {
      const [summary, events, record] = await Promise.all([
        history.summary(runId),
        history.timeline(runId),
        operator.show(runId),
      ]);
      if (summary === undefined && record === undefined && events.length === 0) {
        throw new RepriseError("OPS_UNKNOWN", "There is no such run, or it is no longer kept.");
      }
      return { runId, summary, events, record: record && outlineOf(record) };
    });
  });

  app.post("/find-key", { config: { opsAccess: "viewer" } }, async (request) => {
    const body = fieldsOf(request.body);
    const [tool, key] = [neededText(body, "tool"), neededText(body, "key")];
    return { runId: (await operator.findByKey(tool, key, textIn(body, "principal"))) ?? null };
  });

  app.get(
    "/instances",
    (): Promise<InstancesPage> =>
      reads.get("instances", async () => ({ instances: await history.instances() })),
  );

  app.get(
    "/queues",
    (): Promise<QueuesPage> =>
      reads.get("queues", async () => ({ queues: await there(queues).standing() })),
  );

  app.get(
    "/keys",
    (): Promise<KeysPage> => reads.get("keys", async () => ({ keys: await there(keys).list() })),
  );

  app.get("/audit", async (request): Promise<AuditPage> => {
    const before = numberIn(fieldsOf(request.query), "before", 0, Number.MAX_SAFE_INTEGER);
    const items = await reads.get(`audit ${before ?? ""}`, () =>
      history.audits(AUDITS_A_PAGE, before),
    );
    return { items, next: items.length < AUDITS_A_PAGE ? undefined : items.at(-1)?.at };
  });
}

/** What this deployment has. @throws RepriseError OPS_UNKNOWN */
export function there<T>(part: T | undefined): T {
  if (part !== undefined) return part;
  throw new RepriseError("OPS_UNKNOWN", "This deployment has none: they come with Redis.");
}
