/**
 * bull-board over the raw queues, to look at only.
 *
 * An adapter of ours instead of @bull-board/fastify: that one serves the routes that change queues, and brings packages
 * that refuse Node.js 20. Loaded only where there are queues.
 *
 * B1 Only its GET routes exist here, and of those not a job's log. What changes a queue goes through our own actions,
 *    which are audited.
 * B2 Whatever a job carries or says is masked in every reply, whatever route gives it: payload, result, progress, reasons
 *    and stacks of failures, options.
 * B3 Its page asks nothing of other hosts: the link to a font service is taken out. Its styles are partly inline, so the
 *    policy allows those here; scripts stay our own host's files.
 * B4 Where it can't be read or heard (axe), our own style sheet and script mend it: `pages/board.ts`.
 */
import { createReadStream } from "node:fs";
import { readFile, stat } from "node:fs/promises";
import path from "node:path";
import type { FastifyInstance } from "fastify";
import { escaped } from "./auth/signInRoutes.ts";
import type { QueueDesk } from "./ports.ts";

const policy =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self' data:; connect-src 'self'; base-uri 'self'; form-action 'none'; frame-ancestors 'none'";

const masked = new Set([
  "data",
  "returnValue",
  "returnvalue",
  "progress",
  "failedReason",
  "stacktrace",
  "opts",
  "deferredFailure",
  "logs",
]);

const contentTypes: Readonly<Record<string, string>> = {
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".png": "image/png",
  ".ico": "image/x-icon",
  ".json": "application/json",
  ".woff2": "font/woff2",
};

type Handler = (
  request: object,
) =>
  | Promise<{ readonly status?: number; readonly body: unknown }>
  | { readonly status?: number; readonly body: unknown };

interface Route {
  readonly method: string | readonly string[];
  readonly route: string | readonly string[];
  readonly handler: Handler;
}

/** Collects what bull-board gives a server, and gives itself back as it wants it. */
class Collected {
  queues: unknown;
  views = "";
  statics = "";
  routes: readonly Route[] = [];
  uiConfig: object = {};
  setQueues(queues: unknown): this {
    this.queues = queues;
    return this;
  }
  setViewsPath(views: string): this {
    this.views = views;
    return this;
  }
  setStaticPath(_route: string, statics: string): this {
    this.statics = statics;
    return this;
  }
  setApiRoutes(routes: readonly Route[]): this {
    this.routes = routes;
    return this;
  }
  setUIConfig(config: object): this {
    this.uiConfig = config;
    return this;
  }
  setEntryRoute(): this {
    return this;
  }
  setErrorHandler(): this {
    return this;
  }
}

/** Mounts it at `<base>/board`. */
export async function mountBoard(
  app: FastifyInstance,
  base: string,
  desk: QueueDesk,
): Promise<void> {
  const [{ createBullBoard }, { BullMQAdapter }] = await Promise.all([
    import("@bull-board/api"),
    import("@bull-board/api/bullMQAdapter"),
  ]);
  const collected = new Collected();
  type Options = Parameters<typeof createBullBoard>[0];
  const queues = desk.raw().map((queue) => {
    // The pool's own objects; the port does not name BullMQ's types.
    const raw = queue as ConstructorParameters<typeof BullMQAdapter>[0];
    return new BullMQAdapter(raw, { readOnlyMode: true, allowRetries: false });
  });
  createBullBoard({
    queues: queues as unknown as Options["queues"],
    // Its type names its own classes for what we only hand back to it.
    serverAdapter: collected as unknown as Options["serverAdapter"],
    options: { uiConfig: { boardTitle: "Queues", hideRedisDetails: true, locale: { lng: "en" } } },
  });
  const place = `${base}/board`;
  const page = await entryPage(collected, base, place);

  app.register(
    (board, _options, done) => {
      board.addHook("onRequest", async (_request, reply) => {
        reply.header("content-security-policy", policy);
      });
      for (const { method, route, handler } of collected.routes) {
        if (![method].flat().some((each) => each.toUpperCase() === "GET")) continue;
        for (const url of [route].flat()) {
          if (url.endsWith("/logs")) continue;
          board.get(url, async (request, reply) => {
            const { params, query, headers } = request;
            const asked = {
              queues: collected.queues,
              uiConfig: collected.uiConfig,
              params,
              query,
              headers,
              body: {},
            };
            const { status = 200, body } = await handler(asked);
            return reply.code(status).send(withoutValues(body));
          });
        }
      }
      board.get("/static/*", async (request, reply) => {
        const file = path.join(
          collected.statics,
          path.normalize(`/${(request.params as { "*": string })["*"]}`),
        );
        const type = contentTypes[path.extname(file)];
        const found =
          type !== undefined &&
          (await stat(file).then(
            (each) => each.isFile(),
            () => false,
          ));
        if (!found) return reply.callNotFound();
        return reply.type(type).send(createReadStream(file));
      });
      for (const url of ["/", "/queue/*", "/job-schedulers", "/metrics"]) {
        board.get(url, async (_request, reply) =>
          reply.type("text/html; charset=utf-8").send(page),
        );
      }
      done();
    },
    { prefix: "/board" },
  );
}

/** B2 */
function withoutValues(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutValues);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => {
      if (!masked.has(name)) return [name, withoutValues(member)];
      // The page counts stacks and reads options: the forms stay.
      return [
        name,
        Array.isArray(member) ? [] : name === "opts" || name === "data" ? {} : undefined,
      ];
    }),
  );
}

async function entryPage(
  { views, uiConfig }: Collected,
  base: string,
  place: string,
): Promise<string> {
  const own = `<link rel="stylesheet" href="${base}/assets/board.css"><script type="module" src="${base}/assets/board.js"></script>`;
  const template = await readFile(path.join(views, "index.ejs"), "utf8");
  const words: Readonly<Record<string, string>> = {
    basePath: `${place}/`,
    title: "Queues",
    favIconDefault: "static/images/logo.svg",
    favIconAlternative: "static/favicon-32x32.png",
    uiConfig: JSON.stringify({ ...uiConfig }).replaceAll("<", "\\u003c"),
  };
  return template
    .replaceAll(/<link[^>]*fonts\.googleapis\.com[^>]*>/g, "")
    .replace("</head>", `${own}</head>`)
    .replaceAll(/<%=\s*(\w+)\s*%>/g, (_, name: string) => escaped(words[name] ?? ""))
    .replaceAll(/<%-\s*(\w+)\s*%>/g, (_, name: string) => words[name] ?? "");
}
