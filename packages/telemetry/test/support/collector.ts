/**
 * An OpenTelemetry collector of the tests: takes OTLP over HTTP as JSON, and keeps the spans.
 */
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";

/** A span as it came. */
export interface Received {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: readonly { readonly key: string; readonly value: Record<string, unknown> }[];
  readonly links?: readonly { readonly traceId: string; readonly spanId: string }[];
  readonly events?: readonly { readonly name: string }[];
  readonly status: { readonly code?: number; readonly message?: string };
}

/** One that listens. */
export interface Collector {
  readonly url: string;
  readonly paths: readonly string[];
  readonly spans: readonly Received[];
  readonly resource: () => Readonly<Record<string, unknown>>;
  close(): Promise<void>;
}

/** How it answers. */
export type Manner = "takes" | "hangs" | "refuses";

interface Batch {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: Received["attributes"] };
    readonly scopeSpans: readonly { readonly spans: readonly Received[] }[];
  }[];
}

/** Listens on a free port of loopback. */
export async function startCollector(manner: Manner = "takes"): Promise<Collector> {
  const spans: Received[] = [];
  const paths: string[] = [];
  let resource: Received["attributes"] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      paths.push(request.url ?? "");
      if (manner === "hangs") return;
      if (manner === "refuses") {
        response.writeHead(400).end();
        return;
      }
      const batch = JSON.parse(Buffer.concat(chunks).toString("utf8")) as Batch;
      for (const one of batch.resourceSpans) {
        resource = one.resource.attributes;
        for (const scope of one.scopeSpans) spans.push(...scope.spans);
      }
      response.writeHead(200, { "content-type": "application/json" }).end("{}");
    });
  });
  await listening(server);
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    paths,
    spans,
    resource: () => valuesOf(resource),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** Attributes as an object. */
export function valuesOf(attributes: Received["attributes"]): Readonly<Record<string, unknown>> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));
}

function listening(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
}
