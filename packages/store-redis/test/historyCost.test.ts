/**
 * What a page of history costs Redis (H2): commands and entries, counted, whatever is kept. 100,000 finished and 10,000 waiting runs in
 * long runs; a fiftieth of it else, under the same bounds.
 */
import assert from "node:assert/strict";
import { connectRedis, type RedisConnection } from "@reprise/store-redis";
import { costlyQueries, fillHistory } from "@reprise/testing";
import { Redis } from "ioredis";
import { afterAll, beforeAll, describe, test } from "vitest";
import { longRun } from "../../../test/support/config.ts";
import { type RedisServer, startRedis } from "../../../test/support/redisServer.ts";
import { freshNamespace, openStore } from "./support/stores.ts";

const [FINISHED, WAITING] = longRun ? [100_000, 10_000] : [2_000, 200];
/** 8 lists, and at most twice 8 times the rows of a bucket: the second look is for rows that are gone meanwhile. */
const MAX_COMMANDS = 24;
/** 8 lists of 51 entries and 50 rows; of two filters 8 lists of 500, and 500 rows. */
const MAX_READ = { plain: 8 * 51 + 2 * 50, filtered: 8 * 500 + 500 };
/** 10 lists of 8 buckets, and the open questions. */
const MAX_COUNT_COMMANDS = 90;

let server: RedisServer;
let connection: RedisConnection;

beforeAll(async () => {
  server = await startRedis();
  connection = await connectRedis({ url: server.url });
});

afterAll(async () => {
  await connection?.close();
  await server?.stop();
});

/** Commands of `run`, as the server saw them, with what came back. */
async function spied(run: () => Promise<unknown>): Promise<{
  readonly commands: readonly (readonly string[])[];
  readonly read: number;
}> {
  const commands: (readonly string[])[] = [];
  let read = 0;
  const { client } = connection;
  assert.ok(client instanceof Redis);
  const send = client.sendCommand.bind(client);
  client.sendCommand = (...call: Parameters<Redis["sendCommand"]>) => {
    const [command] = call;
    commands.push([command.name, ...command.args.map(String)]);
    const sent = send(...call);
    void command.promise.then((reply: unknown) => {
      read += Array.isArray(reply) ? reply.length : 1;
    });
    return sent;
  };
  try {
    await run();
  } finally {
    client.sendCommand = send;
  }
  return { commands, read };
}

describe("a page of history in Redis", () => {
  test(`costs few commands and entries with ${FINISHED} finished and ${WAITING} waiting runs`, {
    timeout: 600_000,
  }, async () => {
    const { history } = await openStore({ connection, namespace: freshNamespace() });
    const now = Date.now();
    await fillHistory(history, { now: () => now }, FINISHED, WAITING);
    const printed: string[] = [];
    for (const [name, query] of Object.entries(costlyQueries(now))) {
      let cursor: string | undefined;
      for (let page = 1; page <= 2; page += 1) {
        let shown = 0;
        const { commands, read } = await spied(async () => {
          const found = await history.list({ ...query, cursor });
          shown = found.runs.length;
          cursor = found.next;
        });
        printed.push(
          `${name}, page ${page}: ${commands.length} commands, ${read} read, ${shown} shown`,
        );
        const two = query.principal !== undefined && query.handler !== undefined;
        assert.ok(commands.length <= (two ? 2 * MAX_COMMANDS : MAX_COMMANDS), printed.at(-1));
        assert.ok(read <= (two ? MAX_READ.filtered : MAX_READ.plain), printed.at(-1));
        for (const [word = ""] of commands)
          assert.ok(["zrevrangebylex", "zrangebylex", "mget"].includes(word), `${word} in a page`);
        if (cursor === undefined) break;
      }
    }
    const counting = await spied(async () => {
      const { byStatus } = await history.counts();
      assert.deepEqual(byStatus, { completed: FINISHED, waiting: WAITING });
    });
    printed.push(`counts: ${counting.commands.length} commands, ${counting.read} read`);
    assert.ok(counting.commands.length <= MAX_COUNT_COMMANDS, printed.at(-1));
    assert.ok(counting.read <= MAX_COUNT_COMMANDS + 8 * 20, printed.at(-1));
    process.stdout.write(`${printed.join("\n")}\n`);
  });
});
