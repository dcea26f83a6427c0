/**
 * HTTP by hand against a served front: requests that two readers could take for different ones, that never end, or that are none.
 *
 * Each is refused by an error of the table or by a closed connection, enters no handler, and is followed by a good call.
 */
import { metaKeys } from "@reprise/protocol";
import { describe, expect, test } from "vitest";
import { type HandWritten, handWritten, RawSocket } from "./support/rawSocket.ts";
import { expectRefusal, sharedTarget, startTarget, type Target } from "./support/target.ts";

const served = sharedTarget();

const envelope = {
  [metaKeys.protocolVersion]: "2026-07-28",
  [metaKeys.clientCapabilities]: {},
};

/** A call of `echo`, or of another tool. */
const callOf = (name: string, args: object = {}): string =>
  JSON.stringify({
    ...{ jsonrpc: "2.0", id: 7, method: "tools/call" },
    params: { name, arguments: args, _meta: envelope },
  });
const body = callOf("echo");
const lines = [
  "Content-Type: application/json",
  "MCP-Protocol-Version: 2026-07-28",
  "Mcp-Method: tools/call",
  "Mcp-Name: echo",
];
const without = (name: string): readonly string[] => lines.filter((line) => !line.startsWith(name));
const post = (more: Partial<HandWritten> = {}): Buffer => handWritten({ lines, body, ...more });
const withLine = (...more: readonly string[]): Buffer => post({ lines: [...lines, ...more] });
const chunked = (chunks: string): Buffer =>
  post({ framing: "Transfer-Encoding: chunked", body: chunks });
const inChunks = `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`;

/** Sends bytes over a connection of their own and checks the property; the response, if one came. */
async function attack(target: Target, bytes: Buffer | string): Promise<number | undefined> {
  const socket = new RawSocket(target.served.port);
  const reply = await socket.write(bytes).response();
  expectRefusal(reply);
  expect(target.entered()).toBe(0);
  await target.serves();
  return reply?.status;
}

test("the bytes that the attacks below are made of are a good call", async () => {
  const target = served();
  for (const bytes of [post(), chunked(inChunks)]) {
    const reply = await new RawSocket(target.served.port).write(bytes).response();
    expect(reply?.status).toBe(200);
    expect(reply?.body).toContain('"resultType":"complete"');
  }
  expect(target.entered()).toBe(2);
});

describe("a request that two readers could take for different ones is refused", () => {
  const rows: readonly (readonly [title: string, bytes: Buffer, status: number])[] = [
    ["Content-Length and Transfer-Encoding", withLine("Transfer-Encoding: chunked"), 400],
    ["two Content-Lengths", withLine("Content-Length: 5"), 400],
    ["a Content-Length of two numbers", post({ framing: "Content-Length: 5, 5" }), 400],
    ["a negative Content-Length", post({ framing: "Content-Length: -1" }), 400],
    ["a Content-Length with a sign", post({ framing: `Content-Length: +${body.length}` }), 400],
    [
      "chunked twice",
      post({ framing: "Transfer-Encoding: chunked, identity", body: inChunks }),
      400,
    ],
    ["a chunk without a length", chunked(`zz\r\n${body}\r\n0\r\n\r\n`), 400],
    ["a chunk of a negative length", chunked(`-5\r\n${body}\r\n0\r\n\r\n`), 400],
    ["a folded line", withLine("X-A: a\r\n b"), 400],
    ["a folded Mcp-Name", post({ lines: [...without("Mcp-Name"), "Mcp-Name:\r\n echo"] }), 400],
    ["a space before the colon", withLine("Mcp-Name : echo"), 400],
    ["a NUL in a header", withLine("X-A: \0"), 400],
    ["a bare line feed in a header", withLine("X-A: a\nMcp-Name: other"), 400],
    ["two Mcp-Names", withLine("Mcp-Name: other"), 400],
    ["two equal Mcp-Names", withLine("Mcp-Name: echo"), 400],
    ["two Mcp-Methods", withLine("Mcp-Method: tools/list"), 400],
    ["two revisions", withLine("MCP-Protocol-Version: 2025-11-25"), 400],
    ["two Hosts", withLine("Host: evil.example"), 400],
    ["two Hosts in other letters", withLine("hOsT: 127.0.0.1"), 400],
    ["two Content-Types", withLine("Content-Type: text/plain"), 400],
    ["two Authorizations", withLine("Authorization: Bearer a", "Authorization: Bearer b"), 400],
    ["no Host", Buffer.from(post().toString().replace("Host: 127.0.0.1\r\n", "")), 400],
    ["a foreign Host", post({ host: "evil.example" }), 403],
    ["a Host with a user", post({ host: "127.0.0.1@evil.example" }), 403],
    ["a whole URL as target", post({ target: "http://evil.example/mcp" }), 400],
    [
      "lines that end with a line feed alone",
      Buffer.from(post().toString().replaceAll("\r\n", "\n")),
      400,
    ],
  ];
  test.each(rows)("%s", async (_title, bytes, status) => {
    expect(await attack(served(), bytes)).toBe(status);
  });

  test("a trailer does not change what a header said", async () => {
    const target = served();
    const trailing = `${body.length.toString(16)}\r\n${body}\r\n0\r\nMcp-Name: ask\r\n\r\n`;
    const reply = await new RawSocket(target.served.port)
      .write(
        post({
          lines: [...lines, "Trailer: Mcp-Name"],
          framing: "Transfer-Encoding: chunked",
          body: trailing,
        }),
      )
      .response();
    expect(reply?.body).toContain('"resultType":"complete"');
  });

  test("what stands behind a refused request on the same connection is not served", async () => {
    const target = served();
    const smuggled = Buffer.concat([withLine("Transfer-Encoding: chunked"), post()]);
    const socket = new RawSocket(target.served.port);
    const text = await socket.write(smuggled).closed();
    expect(text.match(/HTTP\/1\.1 \d{3}/g)).toEqual(["HTTP/1.1 400"]);
    expect(target.entered()).toBe(0);
  });
});

describe("headers that say what the body does not", () => {
  const region = (value: string): Buffer =>
    post({
      lines: [...without("Mcp-Name"), "Mcp-Name: routed", `Mcp-Param-Region: ${value}`],
      body: callOf("routed", { region: "eu\nX-Evil: 1" }),
    });
  const base64 = (text: string): string => `=?base64?${Buffer.from(text).toString("base64")}?=`;

  test("a base64 value may hold a line break, and still only mirrors the body", async () => {
    const target = served();
    const right = await new RawSocket(target.served.port)
      .write(region(base64("eu\nX-Evil: 1")))
      .response();
    expect(right?.body).toContain("Routed.");
    expect(right?.text).not.toMatch(/^X-Evil/im);
  });

  test.each([
    ["another line break", base64("eu\r\nX-Evil: 1")],
    ["not canonical base64", `${base64("eu\nX-Evil: 1").slice(0, -2)}=?=`],
    ["base64 of no UTF-8", `=?base64?${Buffer.from([0xff, 0xfe]).toString("base64")}?=`],
    ["bytes outside ASCII", "eu\u00e9"],
    ["twice", `${base64("eu\nX-Evil: 1")}\r\nMcp-Param-Region: ${base64("eu\nX-Evil: 1")}`],
  ])("a value with %s is refused", async (_title, value) => {
    const target = served();
    expect(await attack(target, region(value))).toBe(400);
  });
});

describe("what is no request", () => {
  test.each([
    ["a TLS hello", Buffer.from("16030100f4010000f00303", "hex")],
    ["another protocol", Buffer.from("SSH-2.0-OpenSSH_9.9\r\n\r\n")],
    ["a version to come", Buffer.from(post().toString().replace("HTTP/1.1", "HTTP/3.7"))],
    ["a method to come", Buffer.from("BREW /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")],
    ["a tunnel", Buffer.from("CONNECT evil.example:80 HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")],
    ["a path that is none", post({ target: "/mcp%" })],
    ["a path of broken UTF-8", post({ target: "/%ff%fe" })],
    ["another path", post({ target: "/nope?<script>alert(1)</script>" })],
    ["a path upwards", post({ target: "/mcp/../../etc/passwd" })],
    ["TRACE", Buffer.from("TRACE /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")],
  ])("%s is refused", async (_title, bytes) => {
    await attack(served(), bytes);
  });

  test("nothing of an unknown path is quoted back", async () => {
    const target = served();
    const reply = await new RawSocket(target.served.port)
      .write(post({ target: "/MARKER-path" }))
      .response();
    expect(reply?.status).toBe(404);
    expect(reply?.text).not.toContain("MARKER");
  });

  test("a good call behind a broken one on the same connection is not served either", async () => {
    const target = served();
    const socket = new RawSocket(target.served.port);
    expectRefusal(await socket.write("\0\0\0\r\n\r\n").write(post()).response());
    await socket.closed();
    expect(target.entered()).toBe(0);
  });
});

describe("headers without end", () => {
  test.each([
    ["one of 20 KB", [`X-A: ${"a".repeat(20_000)}`]],
    ["three thousand small ones", Array.from({ length: 3_000 }, (_, at) => `a${at}: b`)],
    ["a session id of 20 KB", [`Mcp-Session-Id: ${"a".repeat(20_000)}`]],
  ])("%s get 431 before anything is looked at", async (_title, more) => {
    expect(await attack(served(), withLine(...more))).toBe(431);
  });

  test.each([
    ["a session id", "Mcp-Session-Id", 404],
    ["an event id", "Last-Event-ID", 400],
    ["a token", "Authorization", 400],
  ])(
    "%s as long as a header may be is refused without being opened",
    async (_title, name, status) => {
      const target = served();
      const initialized = without("MCP-Protocol-Version").concat(
        "MCP-Protocol-Version: 2025-11-25",
      );
      const reply = await new RawSocket(target.served.port)
        .write(
          post({
            lines: [...initialized, `${name}: ${"a.".repeat(6_000)}`],
            body: '{"jsonrpc":"2.0","id":1,"method":"tools/list"}',
          }),
        )
        .response();
      expectRefusal(reply);
      expect(reply?.status).toBe(status);
    },
  );
});

describe("slow senders", () => {
  const limits = { requestTimeoutMs: 400, headersTimeoutMs: 200 };

  test("of a head that never ends get 408 and are let go", async () => {
    const target = await startTarget(limits);
    const socket = new RawSocket(target.served.port).write(
      "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\n",
    );
    const text = await socket.closed();
    expect(text).toMatch(/^HTTP\/1\.1 408 /);
    expect(text).toContain('"code":-32600');
    await target.serves();
  });

  test("of a body that never ends get 408 and are let go", async () => {
    const target = await startTarget(limits);
    const socket = new RawSocket(target.served.port).write(
      post({ framing: "Content-Length: 5000", body: '{"jsonrpc":' }),
    );
    const text = await socket.closed();
    expect(text).toMatch(/^HTTP\/1\.1 408 /);
    expect(target.entered()).toBe(0);
    await target.serves();
  });

  test("by the hundred do not keep others waiting", async () => {
    const target = await startTarget(limits);
    const slow = Array.from({ length: 200 }, () =>
      new RawSocket(target.served.port).write(post({ framing: "Content-Length: 5000", body: "{" })),
    );
    await target.serves();
    await Promise.all(slow.map((socket) => socket.closed()));
    await target.serves();
    expect(target.entered()).toBe(0);
  });
});

test("a body is refused at the first byte too many, whatever its length was said to be", async () => {
  const target = await startTarget({ maxBodyBytes: 1_000 });
  const long = callOf("echo", { text: "a".repeat(5_000) });
  expect(await attack(target, post({ body: long }))).toBe(413);
  const chunks = `${long.length.toString(16)}\r\n${long}\r\n0\r\n\r\n`;
  expect(await attack(target, chunked(chunks))).toBe(413);
});
