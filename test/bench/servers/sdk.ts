/**
 * Baseline (b): the official SDK's `createMcpHandler` mounted on fastify, as its guide shows it.
 *
 * One tool per endpoint (`/mcp` echoes, `/confirm` asks), because its server is built anew for every request and
 * a second tool would be charged to each call. The confirm flow seals its state with `createRequestStateCodec`.
 */
import { randomBytes } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { createMcpFastifyApp } from "@modelcontextprotocol/fastify";
import { toNodeHandler } from "@modelcontextprotocol/node";
import {
  acceptedContent,
  createMcpHandler,
  createRequestStateCodec,
  inputRequired,
  McpServer,
} from "@modelcontextprotocol/server";
import * as z from "zod";
import {
  confirmedText,
  confirmRepeatableTool,
  echoTool,
  question,
  serverName,
  serverVersion,
} from "../workload.ts";
import { announce } from "./serverProcess.ts";

const info = { name: serverName, version: serverVersion };
const codec = createRequestStateCodec<{ orderId: string }>({ key: randomBytes(32) });

const echoServer = createMcpHandler(() => {
  const server = new McpServer(info);
  server.registerTool(
    echoTool,
    { description: "Echoes", inputSchema: z.object({ text: z.string() }) },
    ({ text }) => ({ content: [{ type: "text", text }] }),
  );
  return server;
});

const confirmServer = createMcpHandler(() => {
  const server = new McpServer(info, {
    requestState: { verify: (state, ctx) => codec.verify(state, ctx) },
  });
  server.registerTool(
    confirmRepeatableTool,
    { description: "Asks and ends", inputSchema: z.object({ orderId: z.string() }) },
    async ({ orderId }, ctx) => {
      const state = ctx.mcpReq.requestState<{ orderId: string }>();
      const answer = acceptedContent(ctx.mcpReq.inputResponses, "confirm");
      if (state === undefined || answer === undefined) {
        return inputRequired({
          inputRequests: {
            confirm: inputRequired.elicit({
              message: question,
              requestedSchema: {
                type: "object",
                properties: { confirm: { type: "boolean" } },
                required: ["confirm"],
              },
            }),
          },
          requestState: await codec.mint({ orderId }),
        });
      }
      const text = answer["confirm"] === true ? confirmedText : "Kept.";
      return { content: [{ type: "text", text }] };
    },
  );
  return server;
});

const app = createMcpFastifyApp();
const echo = toNodeHandler(echoServer);
const confirm = toNodeHandler(confirmServer);
app.all("/mcp", (request, reply) => echo(inbound(request.raw), reply.raw, request.body));
app.all("/confirm", (request, reply) => confirm(inbound(request.raw), reply.raw, request.body));

/** Node types absent members as undefined, which the adapter's exact optional members do not admit. */
function inbound(raw: IncomingMessage): Parameters<typeof echo>[0] {
  return raw as Parameters<typeof echo>[0];
}

const origin = await app.listen({ port: 0, host: "127.0.0.1" });
announce({ url: `${origin}/mcp`, close: () => app.close() });
