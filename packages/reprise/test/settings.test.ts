/**
 * The settings of fronts and workers: what is taken from where, and that nothing misspelt or unfit is passed over.
 */
import { isRepriseError } from "reprise";
import { parseSettings, type Settings, settingRows, variableOf } from "reprise/roles";
import { describe, expect, test } from "vitest";

const redis = { REPRISE_REDIS_URL: "redis://127.0.0.1:6390" };

const secret = "0123456789abcdef0123456789abcdef";

interface Given {
  readonly env?: Readonly<Record<string, string>>;
  readonly file?: unknown;
  readonly secretFiles?: Readonly<Record<string, string>>;
}

function parse({ env = redis, file, secretFiles = {} }: Given): Settings {
  return parseSettings({
    env,
    ...(file === undefined
      ? {}
      : {
          file: {
            name: "reprise.json",
            text: typeof file === "string" ? file : JSON.stringify(file),
          },
        }),
    readSecretFile(path) {
      const text = secretFiles[path];
      if (text === undefined) throw new Error(`ENOENT: no such file, open '${path}'`);
      return text;
    },
  });
}

function refusalOf(given: Given): string {
  try {
    parse(given);
  } catch (error) {
    if (isRepriseError(error, "CONFIG_INVALID")) return error.message;
    throw error;
  }
  throw new Error("nothing was refused");
}

describe("settings", () => {
  test("are the table's defaults where only Redis is named", () => {
    const defaults = settingRows
      .filter(({ otherwise }) => otherwise !== undefined)
      .map(({ name, otherwise }) => [name, otherwise]);
    expect(parse({})).toEqual({
      ...Object.fromEntries(defaults),
      redisUrl: redis.REPRISE_REDIS_URL,
    });
  });

  test("come from the file, and from the environment before the file", () => {
    const file = { redisUrl: "redis://a", port: 4000, queues: ["mail", "pay"], namespace: "n" };
    const env = { REPRISE_PORT: "5000", REPRISE_QUEUES: "pay, slow ," };
    expect(parse({ env, file })).toMatchObject({
      redisUrl: "redis://a",
      namespace: "n",
      port: 5000,
      queues: ["pay", "slow"],
    });
  });

  test("take an empty variable for none", () => {
    expect(parse({ env: { ...redis, REPRISE_PORT: "" } }).port).toBe(3000);
  });

  test("name whose tokens are accepted, and where clients reach the endpoint", () => {
    const env = {
      ...redis,
      REPRISE_PUBLIC_URL: "https://mcp.example.com/mcp",
      REPRISE_TOKEN_ISSUERS: "https://a.example.com, https://b.example.com",
      REPRISE_TOKEN_SCOPES: "files:read",
      REPRISE_TOKEN_CLOCK_TOLERANCE: "5s",
    };
    expect(parse({ env })).toMatchObject({
      publicUrl: "https://mcp.example.com/mcp",
      tokenIssuers: ["https://a.example.com", "https://b.example.com"],
      tokenAudiences: [],
      tokenScopes: ["files:read"],
      tokenClockTolerance: "5s",
    });
  });

  test.each([
    ["tokenIssuers needs publicUrl", { tokenIssuers: "https://a.example.com" }],
    ["tokenScopes needs tokenIssuers", { tokenScopes: "files:read" }],
    ["tokenAudiences needs tokenIssuers", { tokenAudiences: "files" }],
    [
      "tokenIssuers and auth none exclude each other",
      { tokenIssuers: "https://a.example.com", publicUrl: "https://b.example.com", auth: "none" },
    ],
  ])("that would check tokens by half are refused: %s", (words, file) => {
    expect(refusalOf({ file })).toContain(words);
  });

  test("take one text for a list of one in the file", () => {
    const file = { requestStateKey: secret, allowedHosts: "mcp.example.com" };
    expect(parse({ file })).toMatchObject({
      requestStateKey: [secret],
      allowedHosts: ["mcp.example.com"],
    });
  });

  test("read secrets from a file, one a line, commas and all", () => {
    const env = { ...redis, REPRISE_KEY_ENCRYPTION_KEY_FILE: "keys" };
    const secretFiles = { keys: `${secret},with a comma\n${secret}\n` };
    const expected = [`${secret},with a comma`, secret];
    expect(parse({ env, secretFiles }).keyEncryptionKey).toEqual(expected);
  });

  test("take numbers by name from either", () => {
    const env = { ...redis, REPRISE_QUEUE_CONCURRENCY: "mail=4, pay=1" };
    const file = { queueRateLimit: { mail: 100 } };
    expect(parse({ env, file })).toMatchObject({
      queueConcurrency: { mail: 4, pay: 1 },
      queueRateLimit: { mail: 100 },
    });
  });

  test("leave the variables of others alone", () => {
    expect(() =>
      parse({
        env: {
          ...redis,
          PORT: "1",
          REPRISE_CONFIG: "x",
          REPRISE_DATA: "d",
          REPRISE_TEST_SEED: "1",
        },
      }),
    ).not.toThrow();
  });

  test("have one variable each, in upper case", () => {
    expect(variableOf("maxBytesPerCaller")).toBe("REPRISE_MAX_BYTES_PER_CALLER");
    expect(new Set(settingRows.map(({ name }) => variableOf(name))).size).toBe(settingRows.length);
  });
});

describe("a setting is refused", () => {
  test.each([
    ["REPRISE_LEASEMS", "did you mean REPRISE_LEASE_MS?"],
    ["REPRISE_QUEUE", "did you mean REPRISE_QUEUES?"],
    ["REPRISE_REDIS_URI", "did you mean REPRISE_REDIS_URL?"],
    ["REPRISE_KEY_ENCRYPTION_KEYFILE", "did you mean REPRISE_KEY_ENCRYPTION_KEY_FILE?"],
  ])("by the name %s, with the name that was meant", (name, hint) => {
    expect(refusalOf({ env: { ...redis, [name]: "1" } })).toContain(
      `${name} is no setting; ${hint}`,
    );
  });

  test("by an unknown name that resembles nothing, without a guess", () => {
    expect(refusalOf({ env: { ...redis, REPRISE_ZZZZZZZZZZ: "1" } })).toBe(
      "REPRISE_ZZZZZZZZZZ is no setting",
    );
  });

  test("by an unknown member of the file", () => {
    expect(refusalOf({ file: { leaseMS: 1 } })).toContain("did you mean leaseMs?");
  });

  test.each([
    ["REPRISE_PORT", "70000"],
    ["REPRISE_PORT", "3e3"],
    ["REPRISE_PORT", "-1"],
    ["REPRISE_LEASE_MS", "10s"],
    ["REPRISE_DISPATCH", "both"],
    ["REPRISE_ENCRYPT_REQUEST_STATE", "yes"],
    ["REPRISE_REQUEST_STATE_LIFETIME", "24"],
    ["REPRISE_KEY_ROTATION_INTERVAL", "0s"],
    ["REPRISE_QUEUE_CONCURRENCY", "mail"],
  ])("when %s is %j", (name, value) => {
    const refusal = refusalOf({ env: { ...redis, [name]: value } });
    expect(refusal).toContain(`${name} must be`);
    expect(refusal).toContain(value);
  });

  test.each([
    ["port", "3000"],
    ["port", 1.5],
    ["queues", [1]],
    ["logLevel", "trace"],
    ["auth", null],
    ["queueConcurrency", { mail: 0 }],
    ["queueRateLimit", ["mail"]],
  ])("when the file says %s: %j", (name, value) => {
    expect(refusalOf({ file: { [name]: value } })).toContain(`${name} must be`);
  });

  test("in a file that is no JSON object", () => {
    expect(refusalOf({ file: "{" })).toContain("reprise.json is no JSON");
    expect(refusalOf({ file: [] })).toContain("reprise.json must hold one JSON object");
  });

  test("without a Redis, and with two kinds of it", () => {
    expect(refusalOf({ env: {} })).toContain("REPRISE_REDIS_URL");
    const both = { REPRISE_REDIS_SENTINELS: "a:1", REPRISE_REDIS_CLUSTER: "b:1" };
    expect(refusalOf({ env: both })).toContain("exclude each other");
    expect(refusalOf({ env: { REPRISE_REDIS_SENTINELS: "a:1" } })).toContain("redisSentinelName");
    expect(refusalOf({ env: { ...redis, REPRISE_REDIS_SENTINEL_NAME: "m" } })).toContain(
      "needs redisSentinels",
    );
  });

  test("together with everything else that is wrong", () => {
    const env = { ...redis, REPRISE_PORT: "x", REPRISE_HOTS: "y" };
    const refusal = refusalOf({ env, file: { concurrency: 0 } });
    for (const part of ["REPRISE_PORT", "REPRISE_HOTS", "concurrency"]) {
      expect(refusal).toContain(part);
    }
  });

  test("without telling a secret", () => {
    const refusal = refusalOf({ file: { requestStateKey: [["hunter2"]], keyEncryptionKey: 7 } });
    expect(refusal).toContain("requestStateKey must be a list of texts");
    expect(refusal).not.toMatch(/hunter2|7/);
  });

  test.each([
    [{ REPRISE_REQUEST_STATE_KEY: `${secret},short` }, "REPRISE_REQUEST_STATE_KEY"],
    [{ REPRISE_JOB_ENCRYPTION_KEY_FILE: "f" }, "REPRISE_JOB_ENCRYPTION_KEY_FILE"],
    [{ REPRISE_REDIS_URL: "http://user:short@host" }, "REPRISE_REDIS_URL"],
  ])("without telling what may be one, in %j", (env, name) => {
    const refusal = refusalOf({ env: { ...redis, ...env }, secretFiles: { f: "short" } });
    expect(refusal).toContain(`${name} must be`);
    expect(refusal).not.toContain("short");
  });

  test("when a namespace can't be part of a key", () => {
    expect(refusalOf({ env: { ...redis, REPRISE_NAMESPACE: "a:b" } })).toContain("A-Z a-z 0-9");
  });

  test("when a secret's file can't be read", () => {
    expect(refusalOf({ env: { ...redis, REPRISE_REQUEST_STATE_KEY_FILE: "gone" } })).toContain(
      "REPRISE_REQUEST_STATE_KEY_FILE can't be read",
    );
  });
});

describe("The collector's endpoint", () => {
  const shared = { OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:4318" };

  test("is taken from the variable that other programs share, where ours is not set", () => {
    expect(parse({ env: { ...redis, ...shared } }).otlpEndpoint).toBe("http://127.0.0.1:4318");
    const own = { REPRISE_OTLP_ENDPOINT: "https://collector.example" };
    expect(parse({ env: { ...redis, ...shared, ...own } }).otlpEndpoint).toBe(
      "https://collector.example",
    );
    expect(parse({}).otlpEndpoint).toBeUndefined();
  });

  test("that is no http URL is refused under the name of the variable that said it", () => {
    const env = { ...redis, OTEL_EXPORTER_OTLP_ENDPOINT: "127.0.0.1:4318" };
    expect(refusalOf({ env })).toContain("OTEL_EXPORTER_OTLP_ENDPOINT");
  });
});
