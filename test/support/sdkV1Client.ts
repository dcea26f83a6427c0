/**
 * The official v1 SDK's client, which speaks the handshake era alone. What the server asks is recorded and answered as in
 * officialClient.ts.
 */
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import {
  CreateMessageRequestSchema,
  ElicitationCompleteNotificationSchema,
  ElicitRequestSchema,
} from "@modelcontextprotocol/sdk/types.js";
import type { Answer, Asked, ElicitationModes } from "./officialClient.ts";

/** A connected client. */
export interface SdkV1Client {
  readonly client: Client;
  readonly asked: readonly Asked[];
  /** Ids of URL asks whose completion the server told. */
  readonly completed: readonly string[];
  /**
   * Rejects when the SDK has lost a call's stream for good, or could not send an answer: it only reports that, and the call
   * stays open until its time limit. Never resolves.
   */
  readonly broken: Promise<never>;
  close(): Promise<void>;
}

/** What `onerror` is told of then. */
const forGood = /^Maximum reconnection attempts|^Failed to send response/;

/** Connects to `url`. Declares forms, unless `elicitation` says otherwise. `headers` go along with each request. */
export async function connectSdkV1(
  url: string,
  answer: (ask: Asked) => Answer | Promise<Answer>,
  elicitation: ElicitationModes = { form: {} },
  headers: Readonly<Record<string, string>> = {},
): Promise<SdkV1Client> {
  const asked: Asked[] = [];
  const completed: string[] = [];
  const client = new Client(
    { name: "sdk-v1-client", version: "1.0.0" },
    { capabilities: { elicitation: { ...elicitation }, sampling: {} } },
  );
  const put = (method: string, params: object, message: string): Answer | Promise<Answer> => {
    const ask = { method, message, params: params as Asked["params"] };
    asked.push(ask);
    return answer(ask);
  };
  client.setRequestHandler(ElicitRequestSchema, async ({ method, params }) => {
    const given = await put(method, params, params.message);
    if (typeof given === "string") return { action: given };
    if ("sample" in given) throw new Error("a form was asked, not a model");
    return { action: "accept", content: { ...given.accept } };
  });
  client.setRequestHandler(CreateMessageRequestSchema, async ({ method, params }) => {
    const given = await put(method, params, JSON.stringify(params.messages));
    if (typeof given === "string" || !("sample" in given)) throw new Error("a model was asked");
    return {
      model: "model-of-the-test",
      role: "assistant",
      content: { type: "text", text: given.sample },
    };
  });
  client.setNotificationHandler(ElicitationCompleteNotificationSchema, ({ params }) => {
    completed.push(params.elicitationId);
  });
  const broken = new Promise<never>((_, reject) => {
    client.onerror = (error) => {
      if (forGood.test(error.message)) reject(error);
    };
  });
  broken.catch(() => undefined);
  const transport = new StreamableHTTPClientTransport(new URL(url), {
    requestInit: { headers: { ...headers } },
  });
  // Its types say that `sessionId` may be undefined, those of Transport that it may be left out.
  await client.connect(transport as Transport);
  return {
    client,
    asked,
    completed,
    broken,
    async close() {
      await transport.terminateSession();
      await client.close();
    },
  };
}
