/**
 * The client under test in the conformance suite: `@reprise/client`, doing what each scenario needs done.
 *
 * Started by the suite, with the server's URL as last argument and the scenario in the environment. It accepts what is asked, since
 * the scenarios look at the wire and not at a person. A call that is refused is not a failure here: some scenarios want
 * that, and the suite judges by what it received.
 */
import { connect, type Host, type HostClient, initialContent } from "@reprise/client";
import { scriptedAuthorization } from "./clientPerson.ts";
import { scenario, scenarioContext } from "./config.ts";

const host: Host = {
  form: async ({ fields }) => {
    const content = initialContent(fields);
    for (const { name, type } of fields) {
      if (type === "boolean" && !content.has(name)) content.set(name, true);
    }
    return { action: "accept", content };
  },
  url: async () => ({ action: "decline" }),
  sample: async () => ({ action: "refuse" }),
  roots: async () => ({ action: "accept", roots: [] }),
};

const scenarios: ReadonlyMap<string, (client: HostClient) => Promise<void>> = new Map([
  ["initialize", async (client) => void (await client.listTools())],
  ["elicitation-sep1034-client-defaults", callAll],
  ["sse-retry", async (client) => await call(client, "test_reconnection")],
  ["tools_call", async (client) => await call(client, "add_numbers", { a: 5, b: 3 })],
  ["request-metadata", async (client) => void (await client.listTools())],
  ["sep-2322-client-request-state", multiRound],
  ["http-standard-headers", everyMethod],
  ["http-custom-headers", customHeaders],
  ["http-invalid-tool-headers", callListed],
  ["json-schema-ref-no-deref", async (client) => void (await client.listTools())],
]);

async function multiRound(client: HostClient): Promise<void> {
  await call(client, "test_mrtr_echo_state");
  await call(client, "test_mrtr_no_state");
  await call(client, "test_mrtr_unrelated");
  // This server breaks the revision's rule that a result names its type; the client refuses the result and does not retry.
  await call(client, "test_mrtr_no_result_type").catch(() => undefined);
}

async function everyMethod(client: HostClient): Promise<void> {
  for (const { name } of await client.listTools()) await call(client, name);
  const { resources } = await client.official.listResources();
  for (const { uri } of resources) await client.readResource(uri);
  const { prompts } = await client.official.listPrompts();
  for (const { name } of prompts) await client.getPrompt(name);
}

async function customHeaders(client: HostClient): Promise<void> {
  const { toolCalls } = JSON.parse(scenarioContext ?? '{"toolCalls":[]}') as {
    readonly toolCalls: readonly {
      readonly name: string;
      readonly arguments: Record<string, unknown>;
    }[];
  };
  for (const { name, arguments: args } of toolCalls) await call(client, name, args);
}

/** Also the authorization scenarios: they look at what comes before the first call, and at calls that want more scopes. */
async function callAll(client: HostClient): Promise<void> {
  for (const { name } of await client.listTools()) await call(client, name);
}

async function callListed(client: HostClient): Promise<void> {
  for (const { name } of await client.listTools()) await call(client, name, { region: "us-west1" });
}

async function call(
  client: HostClient,
  name: string,
  args: Record<string, unknown> = {},
): Promise<void> {
  const { status } = await client.callTool(name, args);
  if (status !== "complete") throw new Error(`${name} is ${status}`);
}

const isAuthorization = scenario.startsWith("auth/");
const run = isAuthorization ? callAll : scenarios.get(scenario);
const url = process.argv.at(-1);
if (run === undefined || url === undefined) throw new Error(`no such scenario: ${scenario}`);
const client = await connect({
  url,
  host,
  ...(isAuthorization ? { authorization: scriptedAuthorization() } : {}),
});
await run(client);
await client.close();
