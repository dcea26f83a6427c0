/** subscriptions/listen on two fronts over one store: what clients of 2026-07-28 hear of, and how their streams end. */
import { once } from "node:events";
import { connect } from "node:net";
import { metaKeys } from "@reprise/protocol";
import { defineServer, prompt, type ServerDefinition, tool } from "@reprise/runtime";
import { describe, expect, test } from "vitest";
import { cluster } from "./legacy/support/instances.ts";
import { watchedServer } from "./legacy/support/server.ts";
import {
  heardAt,
  listening,
  metric,
  send,
  subscribe,
  subscribedBytes,
  subscriptionId,
} from "./support/listener.ts";

const streams = "reprise_front_streams";
const toolsChanged = (id: string | number) => ({
  jsonrpc: "2.0",
  method: "notifications/tools/list_changed",
  params: { _meta: { [subscriptionId]: id } },
});
const updated = (id: string | number, uri: string) => ({
  jsonrpc: "2.0",
  method: "notifications/resources/updated",
  params: { _meta: { [subscriptionId]: id }, uri },
});
const ended = (id: string | number) => ({
  jsonrpc: "2.0",
  id,
  result: { resultType: "complete", _meta: { [subscriptionId]: id } },
});

describe("a subscription", () => {
  test("begins with what of its filter is honoured, and says nothing else unasked", async () => {
    const { instances } = await cluster(watchedServer().server);
    const { honoured } = await listening(instances[0].url, {
      toolsListChanged: true,
      promptsListChanged: true,
      resourcesListChanged: true,
      resourceSubscriptions: ["test://one", "test://item/7", "other://unknown"],
    });
    expect(honoured).toEqual({
      toolsListChanged: true,
      promptsListChanged: true,
      resourceSubscriptions: ["test://one", "test://item/7"],
    });
  });

  test("hears of a tool that any instance switches, on whichever instance it is", async () => {
    const all = await cluster(watchedServer().server);
    const [a, b] = all.instances;
    const { stream } = await listening(b.url, { toolsListChanged: true }, { id: "s-1" });
    await heardAt(all, b, () => a.runtime.tools.disable("greet"));
    expect(await stream.message()).toEqual(toolsChanged("s-1"));
    await heardAt(all, b, () => b.runtime.tools.enable("greet"));
    expect(await stream.message()).toEqual(toolsChanged("s-1"));
  });

  test("hears of a prompt that any instance switches, which is then neither listed nor got nor completed", async () => {
    const all = await cluster(watchedServer().server);
    const [a, b] = all.instances;
    const filter = { promptsListChanged: true };
    const { stream } = await listening(b.url, filter, { id: "s-2" });
    const changed = {
      jsonrpc: "2.0",
      method: "notifications/prompts/list_changed",
      params: { _meta: { [subscriptionId]: "s-2" } },
    };
    await heardAt(all, b, () => a.runtime.prompts.disable("hello"));
    expect(await stream.message()).toEqual(changed);
    expect((await send(b.url, "prompts/list")).json.result).toMatchObject({ prompts: [] });
    const got = await send(b.url, "prompts/get", { name: "hello", arguments: {} });
    expect(got.json.error).toMatchObject({ code: -32602 });
    const ref = { type: "ref/prompt", name: "hello" };
    const argument = { name: "who", value: "" };
    const completed = await send(b.url, "completion/complete", { ref, argument });
    expect(completed.json.error).toMatchObject({ code: -32602 });
    await heardAt(all, b, () => b.runtime.prompts.enable("hello"));
    expect(await stream.message()).toEqual(changed);
    const list = (await send(a.url, "prompts/list")).json.result;
    expect(list).toMatchObject({ prompts: [{ name: "hello" }] });
  });

  test("hears of a tool that was switched off and on again before it was told", async () => {
    const all = await cluster(watchedServer().server);
    const [a] = all.instances;
    const { stream } = await listening(a.url, { toolsListChanged: true });
    await heardAt(all, a, async () => {
      await a.runtime.tools.disable("greet");
      await a.runtime.tools.enable("greet");
    });
    expect(await stream.message()).toEqual(toolsChanged(1));
  });

  test("hears of the resources that it names and of no other", async () => {
    const all = await cluster(watchedServer().server);
    const [a, b] = all.instances;
    const filter = { resourceSubscriptions: ["test://one", "test://item/7"] };
    const { stream } = await listening(a.url, filter);
    await heardAt(all, a, async () => {
      await b.runtime.resourceUpdated("test://item/8");
      await b.runtime.tools.disable("greet");
    });
    await heardAt(all, a, () => b.runtime.resourceUpdated("test://item/7"));
    await heardAt(all, a, () => a.runtime.resourceUpdated("test://one"));
    const got = [await stream.message(), await stream.message()];
    expect(got).toEqual([updated(1, "test://item/7"), updated(1, "test://one")]);
  });

  test("that asks for nothing hears nothing, and ends in order", async () => {
    const all = await cluster(watchedServer().server);
    const [a] = all.instances;
    const { stream, honoured } = await listening(a.url, {});
    expect(honoured).toEqual({});
    await heardAt(all, a, () => a.runtime.tools.disable("greet"));
    await a.close();
    expect(await stream.rest()).toMatchObject([ended(1)]);
  });

  test("is one of several of a client, each told under its own id", async () => {
    const all = await cluster(watchedServer().server);
    const [a] = all.instances;
    const tools = await listening(a.url, { toolsListChanged: true }, { id: 11 });
    const resources = await listening(
      a.url,
      { resourceSubscriptions: ["test://one"] },
      { id: "twelve" },
    );
    await heardAt(all, a, async () => {
      await a.runtime.resourceUpdated("test://one");
      await a.runtime.tools.disable("greet");
    });
    expect(await tools.stream.message()).toEqual(toolsChanged(11));
    expect(await resources.stream.message()).toEqual(updated("twelve", "test://one"));
  });

  test("is told once of what changes many times at once", async () => {
    const all = await cluster(watchedServer().server);
    const [a] = all.instances;
    const { stream } = await listening(a.url, { resourceSubscriptions: ["test://one"] });
    for (let times = 0; times < 20; times += 1) await a.runtime.resourceUpdated("test://one");
    await heardAt(all, a, () => a.runtime.resourceUpdated("test://one"));
    await a.close();
    expect(await stream.rest()).toMatchObject([updated(1, "test://one"), ended(1)]);
  });

  test("is told when a list that is asked for anywhere is the new one", async () => {
    const all = await cluster(watchedServer().server);
    const [a, b] = all.instances;
    const { stream } = await listening(b.url, { toolsListChanged: true });
    await heardAt(all, b, () => a.runtime.tools.disable("greet"));
    await stream.message();
    for (const { url } of all.instances) {
      const { json } = await send(url, "tools/list");
      const { tools } = json.result as { readonly tools: readonly { readonly name: string }[] };
      const names = tools.map(({ name }) => name);
      expect(names).not.toContain("greet");
      expect(names).toContain("wait");
      expect(json.result).toMatchObject({ ttlMs: 300_000, cacheScope: "public" });
    }
  });
});

describe("a stream of a subscription", () => {
  test("carries a comment when nothing else was said for heartbeatMs", async () => {
    const all = await cluster(watchedServer().server, { heartbeatMs: 5_000 });
    const [a] = all.instances;
    const response = await subscribedBytes(a.url, { toolsListChanged: true });
    const chunks = response[Symbol.asyncIterator]();
    expect((await chunks.next()).value).toMatch(/acknowledged/);
    all.clock.advance(5_500);
    expect((await chunks.next()).value).toBe(":\n\n");
  });

  test("goes through proxies unbuffered and uncached", async () => {
    const { instances } = await cluster(watchedServer().server);
    const got = await subscribe(instances[0].url, { toolsListChanged: true });
    expect(got.status).toBe(200);
    expect(Object.fromEntries(got.headers)).toMatchObject({
      "content-type": "text/event-stream",
      "cache-control": "no-cache",
      "x-accel-buffering": "no",
    });
  });

  test("ends with its result when the server stops, and the server does stop", async () => {
    const all = await cluster(watchedServer().server);
    const [a] = all.instances;
    const { stream } = await listening(a.url, { toolsListChanged: true }, { id: 9 });
    await a.close();
    const [last, ...more] = await stream.rest();
    expect(last).toMatchObject(ended(9));
    expect(more).toEqual([]);
  });

  test("and a connection that was opened ahead of time keep no server from stopping", async () => {
    const all = await cluster(watchedServer().server);
    const [a] = all.instances;
    await listening(a.url, { toolsListChanged: true });
    const ahead = connect(Number(new URL(a.url).port), "127.0.0.1");
    await once(ahead, "connect");
    const closed = once(ahead, "close");
    await a.close();
    await closed;
  });

  test("says before its end what has changed until then", async () => {
    const all = await cluster(watchedServer().server);
    const [a] = all.instances;
    const { stream } = await listening(a.url, { toolsListChanged: true });
    await a.runtime.tools.disable("greet");
    await a.close();
    expect(await stream.rest()).toMatchObject([toolsChanged(1), ended(1)]);
  });

  test("leaves nothing behind when its client goes", async () => {
    const all = await cluster(watchedServer().server);
    const [a] = all.instances;
    const { stream } = await listening(a.url, { resourceSubscriptions: ["test://one"] });
    expect(await metric(a.url, streams)).toBe(1);
    await stream.leave();
    await expect.poll(() => metric(a.url, streams)).toBe(0);
    await heardAt(all, a, () => a.runtime.resourceUpdated("test://one"));
    expect(await metric(a.url, streams)).toBe(0);
  });
});

describe("what a server declares", () => {
  const hello = prompt({ name: "hello", description: "Says hello", handler: () => "Hello" });
  const capabilities = async (server: ServerDefinition) => {
    const { instances } = await cluster(server);
    const discovered = await send(instances[0].url, "server/discover");
    const listened = await subscribe(instances[0].url, { toolsListChanged: true });
    return { ...discovered.json.result, listens: listened.status };
  };

  test("is what it delivers: tools that change, resources that are followed", async () => {
    expect(await capabilities(watchedServer().server)).toMatchObject({
      capabilities: {
        tools: { listChanged: true },
        prompts: { listChanged: true },
        resources: { subscribe: true },
      },
      listens: 200,
    });
  });

  test("is something to listen to where there are only prompts", async () => {
    const found = await capabilities(defineServer({ name: "prompts", prompts: [hello] }));
    expect(found).toMatchObject({ capabilities: { prompts: { listChanged: true } }, listens: 200 });
  });

  test("is nothing to listen to where there is nothing, and the method is not served", async () => {
    const found = await capabilities(defineServer({ name: "nothing" }));
    expect(found).toMatchObject({ capabilities: { logging: {} }, listens: 404 });
  });

  test("stays when all tools are switched off", async () => {
    const greet = tool({ name: "greet", description: "Greets", handler: () => "Hello" });
    const all = await cluster(defineServer({ name: "one", tools: [greet] }));
    const [a] = all.instances;
    await a.runtime.tools.disable("greet");
    const { json } = await send(a.url, "tools/list");
    expect(json.result).toMatchObject({ tools: [], ttlMs: 300_000 });
    const call = await send(a.url, "tools/call", { name: "greet" });
    expect(call.json.error).toMatchObject({ code: -32602 });
  });
});

test("a dialogue that has begun goes on when its tool was switched off, while a new one is refused", async () => {
  const { server, events } = watchedServer();
  const [a, b] = (await cluster(server)).instances;
  const call = { name: "delete_folder", arguments: { path: "build/" } };
  const answers = { meta: { [metaKeys.clientCapabilities]: { elicitation: { form: {} } } } };
  const asked = (await send(a.url, "tools/call", call, answers)).json.result;
  await b.runtime.tools.disable("delete_folder");
  const inputResponses = { confirm: { action: "accept", content: { confirm: true } } };
  const { requestState } = asked ?? {};
  const retry = { ...call, requestState, inputResponses };
  const answered = await send(b.url, "tools/call", retry, answers);
  expect(answered.json.result).toMatchObject({ content: [{ text: "Deleted." }] });
  expect(events.filter((event) => event === "deleted")).toHaveLength(1);
  expect((await send(b.url, "tools/call", call)).json.error).toMatchObject({ code: -32602 });
  const forged = { ...call, requestState: "forged", inputResponses };
  expect((await send(b.url, "tools/call", forged)).json.error).toMatchObject({ code: -32602 });
});

describe("pages of a list that changes", () => {
  test("go on behind their cursor when another tool was switched off", async () => {
    const { instances } = await cluster(watchedServer().server, { pageSize: 2 });
    const [a] = instances;
    const first = (await send(a.url, "tools/list")).json.result;
    await a.runtime.tools.disable("ask_two");
    const cursor = first?.["nextCursor"];
    const next = (await send(a.url, "tools/list", { cursor })).json.result;
    expect(next).toMatchObject({ tools: [{ name: "ask_later" }, { name: "needs_sampling" }] });
  });

  test("are refused with a code when the tool that their cursor names was switched off", async () => {
    const { instances } = await cluster(watchedServer().server, { pageSize: 2 });
    const [a] = instances;
    const cursor = (await send(a.url, "tools/list")).json.result?.["nextCursor"];
    await a.runtime.tools.disable("delete_folder");
    const { status, json } = await send(a.url, "tools/list", { cursor });
    expect([status, json.error?.code]).toEqual([200, -32602]);
  });
});
