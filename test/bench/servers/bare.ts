/**
 * Baseline (a): a bare fastify route that parses a tools/call and returns the same JSON as Reprise does.
 */
import { fastify } from "fastify";
import { serverName, serverVersion } from "../workload.ts";
import { announce } from "./serverProcess.ts";

interface CallBody {
  readonly id: number;
  readonly params: { readonly arguments: { readonly text: string } };
}

const app = fastify();

app.post<{ Body: CallBody }>("/mcp", (request, reply) => {
  const { id, params } = request.body;
  void reply.send({
    jsonrpc: "2.0",
    id,
    result: {
      content: [{ type: "text", text: params.arguments.text }],
      resultType: "complete",
      _meta: {
        "io.modelcontextprotocol/serverInfo": { name: serverName, version: serverVersion },
      },
    },
  });
});

const origin = await app.listen({ port: 0, host: "127.0.0.1" });
announce({ url: `${origin}/mcp`, close: () => app.close() });
