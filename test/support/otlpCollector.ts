/**
 * An OpenTelemetry collector that takes whatever comes over OTLP/HTTP and keeps it as it came.
 */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";

/** One that listens; closed with the test. */
export interface OtlpCollector {
  /** For `otlpEndpoint`. */
  readonly url: string;
  /** All bodies so far, joined. */
  received(): string;
}

/** Listens on a free port of loopback. */
export async function otlpCollector(): Promise<OtlpCollector> {
  const bodies: string[] = [];
  const server = createServer((request, response) => {
    let body = "";
    request.setEncoding("utf8").on("data", (text: string) => {
      body += text;
    });
    request.on("end", () => {
      bodies.push(body);
      response.writeHead(200, { "content-type": "application/json" }).end("{}");
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, received: () => bodies.join("\n") };
}
