/**
 * `serveOps`: the dashboard of a deployment on Redis. A composition root like serveFront.ts.
 *
 * It executes nothing, sweeps nothing and makes no key: it can be down without anybody but operators noticing.
 */
import { RepriseError } from "@reprise/errors";
import {
  createLinkSignIn,
  createOidcSignIn,
  type LinkSignIn,
  listenOps,
  type OpsServerOptions,
  type SignIn,
} from "@reprise/ops";
import { openQueueDesk, type PoolQueueDesk } from "@reprise/pool";
import {
  checkedHistory,
  type ServerDefinition,
  silentLogger,
  storeOperator,
} from "@reprise/runtime";
import { connectRedis, openKeyRingAdmin, openRedisStore } from "@reprise/store-redis";
import { askToDrain } from "./drainNotices.ts";
import { requireNode } from "./nodeVersion.ts";
import { isLoopback } from "./opsEmbedded.ts";
import { clockOf } from "./roleRuntime.ts";
import { type Settings, variableOf } from "./settings.ts";
import { redisOptions, storeOptions } from "./shared.ts";

/** What a dashboard is given besides its settings. */
export interface OpsExtras {
  /** Where log lines go. Default: nowhere. */
  readonly logger?: NonNullable<OpsServerOptions["logger"]>;
  /** Gets each one-time link that somebody asked for on the page, where no provider is set. Default: nobody. */
  readonly print?: (link: string) => void;
}

/** A dashboard that listens. */
export interface ServedOps {
  /** Such as `http://127.0.0.1:3004/ops/`. */
  readonly url: string;
  readonly port: number;
  /** A one-time link; undefined where people sign in at a provider. The link before ends. */
  readonly newLink: (() => string) | undefined;
  /** Ends open pages, closes what it opened. Idempotent. */
  close(): Promise<void>;
}

/**
 * Serves the dashboard of the deployment whose fronts and workers serve the same definition on the same Redis.
 * @throws RepriseError CONFIG_INVALID, STORE_UNAVAILABLE, STORE_UNUSABLE, PORT_IN_USE or NODE_TOO_OLD
 */
export async function serveOps(
  server: ServerDefinition,
  settings: Settings,
  { logger, print = () => undefined }: OpsExtras = {},
): Promise<ServedOps> {
  requireNode(process.versions.node);
  const log = logger ?? silentLogger;
  const { namespace, opsHost: host, opsPort: port } = settings;
  let origin = "";
  const links =
    settings.opsIssuer === undefined
      ? linkSignIn(host, (link) => print(`${origin}${link}`))
      : undefined;
  const signIn = links ?? providerSignIn(settings);
  const connection = await connectRedis(redisOptions(settings));
  const opened: (() => Promise<void>)[] = [() => connection.close()];
  let closing: Promise<void> | undefined;
  const closeAll = async (): Promise<void> => {
    for (const close of opened.reverse()) await close();
  };
  try {
    const store = await openRedisStore({ connection, ...storeOptions(settings), logger: log });
    opened.push(() => store.close());
    const desk = queueDesk(server, settings, connection, log);
    if (desk !== undefined) opened.push(() => desk.close());
    const running = await listenOps({
      host,
      port,
      // A dashboard whose machine is ahead would take open questions for expired, and tell history so.
      history: checkedHistory(store.history, store, () => store.now()),
      clock: clockOf(store),
      operator: storeOperator({
        store,
        history: store.history,
        namespace,
        server: server.name,
        definition: server,
        clock: clockOf(store),
      }),
      signIn,
      server: server.name,
      health: () => store.health(),
      records: store.shared,
      queues: desk,
      // With secrets in the settings nobody joins a ring.
      keys:
        settings.requestStateKey.length > 0
          ? undefined
          : openKeyRingAdmin({ connection, namespace }),
      workers: { drain: (instance) => askToDrain(store.shared, instance) },
      allowedHosts: publicHost(settings),
      ...(logger === undefined ? {} : { logger }),
    });
    opened.push(() => running.close());
    origin = running.url;
    return {
      url: running.url,
      port: running.port,
      newLink: links && (() => `${running.url}${links.newLink()}`),
      close() {
        closing ??= closeAll();
        return closing;
      },
    };
  } catch (error) {
    await closeAll();
    throw error;
  }
}

function linkSignIn(host: string, print: (link: string) => void): LinkSignIn {
  if (isLoopback(host)) return createLinkSignIn({ print });
  const name = `opsIssuer (${variableOf("opsIssuer")})`;
  throw new RepriseError(
    "CONFIG_INVALID",
    `opsHost ${host} is reachable from other machines: set ${name}, at which operators sign in`,
  );
}

function providerSignIn(settings: Settings): SignIn {
  const { opsIssuer: issuer = "", opsClientId: clientId, opsPublicUrl: publicUrl } = settings;
  if (clientId === undefined || publicUrl === undefined) {
    const names = [variableOf("opsClientId"), variableOf("opsPublicUrl")].join(" and ");
    throw new RepriseError(
      "CONFIG_INVALID",
      `opsIssuer needs opsClientId and opsPublicUrl: set ${names}`,
    );
  }
  return createOidcSignIn({
    issuer,
    clientId,
    publicUrl,
    clientSecret: settings.opsClientSecret,
    rolesClaim: settings.opsRolesClaim,
    operatorRoles: settings.opsOperatorRoles,
    viewerRoles: settings.opsViewerRoles,
  });
}

/** The name under which browsers reach it, where a proxy passes Host on. */
function publicHost({ opsPublicUrl }: Settings): readonly string[] {
  return opsPublicUrl === undefined || !URL.canParse(opsPublicUrl)
    ? []
    : [new URL(opsPublicUrl).host];
}

/** Undefined where handlers run in the fronts. */
function queueDesk(
  server: ServerDefinition,
  { namespace, dispatch, queues: given }: Settings,
  connection: Parameters<typeof openQueueDesk>[0]["connection"],
  logger: Parameters<typeof openQueueDesk>[0]["logger"],
): PoolQueueDesk | undefined {
  if (dispatch === "inline") return undefined;
  const { tools = [], prompts = [], resources = [], resourceTemplates = [] } = server;
  const handlers: readonly { readonly queue?: string | undefined }[] = [
    ...tools,
    ...prompts,
    ...resources,
    ...resourceTemplates,
  ];
  const named = handlers.map(({ queue }) => queue ?? "default");
  const queues = given.length > 0 ? given : [...new Set(named)].toSorted();
  return openQueueDesk({
    connection,
    namespace,
    queues,
    ...(logger === undefined ? {} : { logger }),
  });
}
