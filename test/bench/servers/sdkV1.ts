/**
 * The official v1 SDK as its guide shows a server of the handshake era: one transport and one server for each session, kept in
 * memory, and a handler that awaits the client's answer.
 */
import { randomUUID } from "node:crypto";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import { ElicitResultSchema } from "@modelcontextprotocol/sdk/types.js";
import fastify from "fastify";
import * as z from "zod";
import {
  confirmedText,
  confirmOnceTool,
  keyArgument,
  question,
  serverName,
  serverVersion,
} from "../workload.ts";
import { announce } from "./serverProcess.ts";

const sessions = new Map<string, StreamableHTTPServerTransport>();

async function newSession(): Promise<StreamableHTTPServerTransport> {
  const server = new McpServer({ name: serverName, version: serverVersion });
  server.registerTool(
    confirmOnceTool,
    { description: "Asks and ends", inputSchema: { [keyArgument]: z.string() } },
    async (_args, { sendRequest }) => {
      const requestedSchema = {
        type: "object" as const,
        properties: { confirm: { type: "boolean" as const } },
        required: ["confirm"],
      };
      // On the call's own stream; `elicitInput` would ask on the session's.
      const answer = await sendRequest(
        { method: "elicitation/create", params: { message: question, requestedSchema } },
        ElicitResultSchema,
        { timeout: 3_600_000 },
      );
      const text = answer.content?.["confirm"] === true ? confirmedText : "Kept.";
      return { content: [{ type: "text", text }] };
    },
  );
  const transport = new StreamableHTTPServerTransport({
    sessionIdGenerator: () => randomUUID(),
    onsessioninitialized: (id) => {
      sessions.set(id, transport);
    },
  });
  // Its types say that members may be undefined, those of Transport that they may be left out.
  await server.connect(transport as Transport);
  return transport;
}

const app = fastify();
app.all("/mcp", async (request, reply) => {
  const id = request.headers["mcp-session-id"];
  const known = typeof id === "string" ? sessions.get(id) : undefined;
  const transport = known ?? (await newSession());
  reply.hijack();
  await transport.handleRequest(request.raw, reply.raw, request.body);
});
const origin = await app.listen({ port: 0, host: "127.0.0.1" });
announce({ url: `${origin}/mcp`, close: () => app.close() });
