/**
 * The official MCP client, as a host uses it: one handler for each kind of question.
 *
 * What the server asks is recorded in `asked`, in order; the answers come from `answer`, called once a question.
 */
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";

/** A question of the server as the client's handler got it. */
export interface Asked {
  readonly method: string;
  readonly message: string;
  readonly params: Readonly<Record<string, unknown>>;
}

/** What the client answers: the content of a form, a page that was visited, a refusal, or what the model wrote. */
export type Answer =
  | "accept"
  | { readonly accept: Readonly<Record<string, string | number | boolean | string[]>> }
  | "decline"
  | "cancel"
  | { readonly sample: string };

/** A connected client. */
export interface OfficialClient {
  readonly client: Client;
  readonly asked: readonly Asked[];
  close(): Promise<void>;
}

/** Answers "yes" to every confirm. */
export const yes = (): Answer => ({ accept: { confirm: true } });

/** The first text of a tool's result. */
export function textOf(result: { readonly content: readonly object[] }): string {
  const [first] = result.content as readonly { readonly text?: string }[];
  return first?.text ?? "";
}

/** Ways of asking that a client may declare. */
export type ElicitationModes = Partial<Record<"form" | "url", Record<string, never>>>;

/** How the client finds the revision: by asking the server, or only by the handshake of the older ones. */
export type Negotiation = "auto" | "legacy";

/** Connects to `url`. Declares forms, unless `elicitation` says otherwise. */
export async function connectOfficial(
  url: string,
  answer: (ask: Asked) => Answer | Promise<Answer>,
  name = "official-client",
  elicitation: ElicitationModes = { form: {} },
  mode: Negotiation = "auto",
): Promise<OfficialClient> {
  const asked: Asked[] = [];
  const client = new Client(
    { name, version: "1.0.0" },
    {
      capabilities: { elicitation: { ...elicitation }, sampling: {} },
      versionNegotiation: { mode },
    },
  );
  const put = (method: string, params: object, message: string): Answer | Promise<Answer> => {
    const ask = { method, message, params: params as Asked["params"] };
    asked.push(ask);
    return answer(ask);
  };
  client.setRequestHandler("elicitation/create", async ({ method, params }) => {
    const given = await put(method, params, params.message);
    if (typeof given === "string") return { action: given };
    if ("sample" in given) throw new Error("a form was asked, not a model");
    return { action: "accept", content: { ...given.accept } };
  });
  client.setRequestHandler("sampling/createMessage", async ({ method, params }) => {
    const given = await put(method, params, JSON.stringify(params.messages));
    if (typeof given === "string" || !("sample" in given)) throw new Error("a model was asked");
    return {
      model: "model-of-the-test",
      role: "assistant",
      content: { type: "text", text: given.sample },
      stopReason: "endTurn",
    };
  });
  await client.connect(new StreamableHTTPClientTransport(new URL(url)));
  return { client, asked, close: () => client.close() };
}
