/**
 * Sends spans to a collector over OTLP/HTTP, as JSON. Made by composition roots when an endpoint is configured.
 *
 * O1 Spans wait in memory, at most `MAX_QUEUED`; what comes beyond is dropped. A collector that is away, slow or hangs costs nothing else.
 * O2 That spans can't be delivered is logged when it begins and when it is over.
 */

import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { resourceFromAttributes } from "@opentelemetry/resources";
import {
  BasicTracerProvider,
  BatchSpanProcessor,
  type SpanExporter,
} from "@opentelemetry/sdk-trace-base";
import { RepriseError } from "@reprise/errors";
import type { Logger, RunObserver } from "@reprise/runtime";
import { GivenIds } from "./traceIds.ts";
import { tracesObserver } from "./tracesObserver.ts";

/** Where spans go, and who sends them. */
export interface TracesOptions {
  /** Base URL of the collector, such as `http://127.0.0.1:4318`; spans go to `/v1/traces` below it. */
  readonly endpoint: string;
  /** `service.name` of the spans. */
  readonly serviceName: string;
  readonly serviceVersion: string;
  /** `service.instance.id`. */
  readonly instance: string;
  readonly logger: Logger;
  /** How long spans are gathered before they go. Default 5000 ms. */
  readonly gatherMs?: number;
}

/** Traces that are sent. */
export interface Traces {
  readonly observer: RunObserver;
  /** Sends what is left, for at most `CLOSE_MS`; never rejects. Idempotent. */
  close(): Promise<void>;
}

const MAX_QUEUED = 8192;
const EXPORT_MS = 10_000;
const CLOSE_MS = 2_000;

/** Starts to trace. @throws RepriseError CONFIG_INVALID for an endpoint that is no http or https URL */
export function openTraces(options: TracesOptions): Traces {
  const { endpoint, serviceName, serviceVersion, instance, logger, gatherMs = 5_000 } = options;
  const base = URL.canParse(endpoint) ? new URL(endpoint) : undefined;
  if (base === undefined || !/^https?:$/.test(base.protocol)) {
    throw new RepriseError("CONFIG_INVALID", "the OTLP endpoint is no http or https URL");
  }
  base.pathname = `${base.pathname.replace(/\/+$/, "")}/v1/traces`;
  const exporter = told(
    new OTLPTraceExporter({ url: base.href, timeoutMillis: EXPORT_MS }),
    base.host,
    logger,
  );
  const ids = new GivenIds();
  const provider = new BasicTracerProvider({
    idGenerator: ids,
    resource: resourceFromAttributes({
      "service.name": serviceName,
      "service.version": serviceVersion,
      "service.instance.id": instance,
    }),
    spanProcessors: [
      new BatchSpanProcessor(exporter, {
        maxQueueSize: MAX_QUEUED,
        scheduledDelayMillis: gatherMs,
        exportTimeoutMillis: EXPORT_MS,
      }),
    ],
  });
  let closing: Promise<void> | undefined;
  return {
    observer: tracesObserver(provider.getTracer("reprise"), ids),
    close() {
      closing ??= atMost(CLOSE_MS, provider.shutdown());
      return closing;
    },
  };
}

/** O2. */
function told(exporter: SpanExporter, host: string, log: Logger): SpanExporter {
  let isFailing = false;
  return {
    export(spans, done) {
      exporter.export(spans, (result) => {
        const failed = result.error !== undefined || result.code !== 0;
        if (failed !== isFailing) {
          isFailing = failed;
          if (failed)
            log.warn({ err: result.error, host }, "spans can't be delivered and are dropped");
          else log.info({ host }, "spans are delivered again");
        }
        done(result);
      });
    },
    shutdown: () => exporter.shutdown(),
    ...(exporter.forceFlush === undefined
      ? {}
      : { forceFlush: () => exporter.forceFlush?.() ?? Promise.resolve() }),
  };
}

function atMost(ms: number, work: Promise<unknown>): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    work
      .then(
        () => undefined,
        () => undefined,
      )
      .finally(() => {
        clearTimeout(timer);
        resolve();
      });
  });
}
