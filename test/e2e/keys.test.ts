/**
 * `reprise keys` as an operator runs it, on a ring that a member in this process keeps.
 */
import {
  connectRedis,
  openKeyRing,
  type RedisConnection,
  type RedisKeyRing,
} from "@reprise/store-redis";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type RedisServer, startRedis } from "../support/redisServer.ts";
import { runReprise } from "../support/repriseCommand.ts";

let server: RedisServer;
let connection: RedisConnection;
let ring: RedisKeyRing;
beforeAll(async () => {
  server = await startRedis();
  connection = await connectRedis({ url: server.url });
  ring = await openKeyRing({ connection, namespace: "shop", owner: "front-1\u001b[31m:7" });
});
afterAll(async () => {
  await ring.close();
  await connection.close();
  await server.stop();
});

const keys = (...args: readonly string[]): ReturnType<typeof runReprise> =>
  runReprise(["keys", ...args, "--redis", server.url, "--namespace", "shop"]);

describe("reprise keys", () => {
  test("lists the ring without a secret and without a control character of an owner's name", async () => {
    const { kid } = ring.sealing();
    const { code, stdout, stderr } = await keys("list");
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    const [head, row] = stdout.split("\n");
    const columns = ["KEY", "STATUS", "OWNER", "CREATED", "OPENS UNTIL", "WRAPPED"];
    expect(head?.split(/ {2,}/)).toEqual(columns);
    const times = " +\\d{4}-\\S+Z +\\d{4}-\\S+Z";
    expect(row).toMatch(new RegExp(`^${kid} +sealing +front-1\\?\\[31m:7${times} +no$`));
    expect(stdout).not.toContain("secret");
  });

  // promise P5.16
  test("asks every instance for a new key, and revokes one for good", async () => {
    const { kid } = ring.sealing();
    const asked = await keys("rotate");
    expect(asked.stdout).toContain("Asked every instance");
    // A look that starts now sees the request.
    while (ring.sealing().kid === kid) await ring.find("A".repeat(22));
    expect(ring.find(kid)).toMatchObject({ kid, life: { revoked: false } });

    const revoked = await keys("revoke", kid, "--json");
    expect(JSON.parse(revoked.stdout)).toEqual({ revoked: kid, known: true });
    while (ring.list().every((key) => key.status !== "revoked")) await ring.find("A".repeat(22));
    expect(ring.find(kid)).toMatchObject({ kid, life: { revoked: true } });

    const listed = await keys("list", "--json");
    expect(JSON.parse(listed.stdout)).toEqual({ keys: ring.list() });
  });

  test("revokes nothing for a kid that the ring does not have", async () => {
    const kid = "A".repeat(22);
    const { code, stdout, stderr } = await keys("revoke", kid);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain(`CONFIG_INVALID: the ring has no key ${kid}`);
    expect(await connection.client.exists("reprise1:{shop:keyring}:tombstones")).toBe(1);
    expect(await connection.client.hexists("reprise1:{shop:keyring}:tombstones", kid)).toBe(0);
  });

  test("finds the Redis in the settings of the instances", async () => {
    const settings = { REPRISE_REDIS_URL: server.url, REPRISE_NAMESPACE: "shop" };
    const asInstance = await runReprise(["keys", "list", "--json"], [], settings);
    expect(asInstance.stderr).toBe("");
    expect(JSON.parse(asInstance.stdout)).toEqual({ keys: ring.list() });
  });

  test("says in one line what was typed wrong, with exit code 2", async () => {
    const { code, stdout, stderr } = await keys("revoke", "no-kid", "--unknown");
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toBe("CONFIG_INVALID: kid must have 22 characters of base64url\n");
  });
});
