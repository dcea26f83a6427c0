import { type AnySchema, type Context, type ElicitOptions, tool } from "@reprise/runtime";
import { describe, expect, test } from "vitest";
import * as z from "zod";
import { accept, question, startHarness, text } from "./support/harness.ts";

const description = "d";

async function replyTo(
  body: (ctx: Context) => Promise<unknown>,
  answer?: Record<string, unknown>,
): Promise<Awaited<ReturnType<ReturnType<typeof startHarness>["call"]>>> {
  const h = startHarness({
    tools: [
      tool({
        name: "t",
        description,
        handler: (_args, ctx) =>
          body(ctx).then(
            (value) => JSON.stringify(value),
            (error: unknown) => `${(error as { code: string }).code}: ${(error as Error).message}`,
          ),
      }),
    ],
  });
  const reply = await h.call("t");
  if (answer === undefined || reply.kind !== "input_required") return reply;
  return h.call("t", { requestState: reply.requestState, inputResponses: answer });
}

const elicit = (schema: AnySchema, options: ElicitOptions = {}) =>
  replyTo((ctx) => ctx.elicit("?", schema, options));

describe("forms that ask for a secret", () => {
  test.each([
    "password",
    "Password",
    "userPassword",
    "user_password",
    "PASSWORD_2",
    "passwd",
    "passphrase",
    "passCode",
    "apiKey",
    "API-Key",
    "api_key",
    "APIKey",
    "stripeApiKey",
    "secret",
    "clientSecret",
    "accessToken",
    "token",
    "authToken",
    "cardNumber",
    "card_number",
    "creditCardNumber",
    "cvv",
    "CVC",
    "securityCode",
    "pin",
    "PIN",
    "pinCode",
    "otp",
    "oneTimePassword",
    "ssn",
    "iban",
    "seedPhrase",
    "privateKey",
    "credentials",
  ])(
    "a field called %s is refused with SECRET_IN_FORM and a pointer to elicitUrl",
    async (field) => {
      const refusal = text(await elicit(z.object({ [field]: z.string() })));
      expect(refusal).toMatch(/^SECRET_IN_FORM/);
      expect(refusal).toContain(`"${field}"`);
      expect(refusal).toContain("elicitUrl");
    },
  );

  test.each([
    "city",
    "tokenization",
    "pinnedCity",
    "companion",
    "passenger",
    "keyboard",
    "email",
    "cardholder",
    "japan",
    "spinach",
    "secretary",
  ])("a field called %s is asked for", async (field) => {
    question(await elicit(z.object({ [field]: z.string() })));
  });

  test("a title that names a secret is refused as well as a name", async () => {
    const field = z.string().meta({ title: "Your API key" });
    expect(text(await elicit(z.object({ code: field })))).toMatch(/^SECRET_IN_FORM/);
  });

  test("a password format in plain JSON Schema is refused", async () => {
    const schema = { type: "object", properties: { code: { type: "string", format: "password" } } };
    expect(text(await elicit(schema))).toMatch(/^SECRET_IN_FORM/);
  });

  test("a yes or no can't carry a secret, and notSecret lets a false alarm through", async () => {
    question(await elicit(z.object({ resetPassword: z.boolean() })));
    question(await elicit(z.object({ token: z.string() }), { notSecret: ["token"] }));
    expect(
      text(
        await elicit(z.object({ token: z.string(), pin: z.string() }), { notSecret: ["token"] }),
      ),
    ).toContain('"pin"');
  });
});

describe("forms that MCP can't show", () => {
  test.each([
    ["a nested object", z.object({ address: z.object({ street: z.string() }) })],
    ["a list of texts", z.object({ names: z.array(z.string()) })],
    ["a union", z.object({ either: z.union([z.string(), z.number()]) })],
    ["no object at all", z.string()],
    ["an empty JSON Schema", {}],
  ] as readonly (readonly [string, AnySchema])[])(
    "%s is refused with FORM_UNSUPPORTED",
    async (_name, schema) => {
      expect(text(await elicit(schema))).toMatch(/^FORM_UNSUPPORTED/);
    },
  );
});

describe("forms on the wire", () => {
  test("carry what MCP forms know of a zod schema and nothing of the library's own", async () => {
    const schema = z.object({
      city: z.string().min(2).max(40).meta({ title: "City", description: "Where to" }),
      nights: z.number().int().min(1),
      mail: z.email(),
      room: z.enum(["single", "double"]).default("single"),
      extras: z.array(z.enum(["sauna", "bike"])).optional(),
      quiet: z.boolean(),
    });
    const { inputRequests } = question(await elicit(schema));
    expect(inputRequests["elicit"]).toEqual({
      method: "elicitation/create",
      params: {
        mode: "form",
        message: "?",
        requestedSchema: {
          type: "object",
          properties: {
            city: {
              type: "string",
              minLength: 2,
              maxLength: 40,
              title: "City",
              description: "Where to",
            },
            nights: { type: "integer", minimum: 1 },
            mail: { type: "string", format: "email" },
            room: { type: "string", enum: ["single", "double"], default: "single" },
            extras: { type: "array", items: { type: "string", enum: ["sauna", "bike"] } },
            quiet: { type: "boolean" },
          },
          required: ["city", "nights", "mail", "quiet"],
        },
      },
    });
  });

  test("plain JSON Schema goes out as it is and judges the answer", async () => {
    const schema = {
      type: "object",
      properties: { n: { type: "integer", minimum: 3 } },
      required: ["n"],
    };
    const asked = question(await elicit(schema));
    expect(asked.inputRequests["elicit"]).toMatchObject({ params: { requestedSchema: schema } });
    question(await replyTo((ctx) => ctx.elicit("?", schema), { elicit: accept({ n: 2 }) }));
    const fine = await replyTo((ctx) => ctx.elicit("?", schema), { elicit: accept({ n: 3 }) });
    expect(JSON.parse(text(fine))).toEqual({ action: "accept", content: { n: 3 } });
  });
});

describe("URLs that are asked for", () => {
  test.each([
    ["http off loopback", "http://pay.example/"],
    ["a user in the URL", "https://bank.example@evil.example/"],
    ["a password in the URL", "https://:x@evil.example/"],
    ["a script", "javascript:alert(1)"],
    ["a file", "file:///etc/passwd"],
    ["no absolute URL", "/pay"],
    ["no URL", "pay here"],
    ["a name that begins like loopback", "http://localhost.evil.example/"],
    ["an address that begins like loopback", "http://127.0.0.1.evil.example/"],
  ])("%s is refused with URL_REFUSED", async (_name, url) => {
    expect(text(await replyTo((ctx) => ctx.elicitUrl("?", url)))).toMatch(/^URL_REFUSED/);
  });

  test.each([
    "https://pay.example/1?x=y",
    "http://127.0.0.1:3001/pay",
    "http://localhost/pay",
    "http://[::1]:80/pay",
  ])("%s is asked", async (url) => {
    const asked = question(await replyTo((ctx) => ctx.elicitUrl("?", url)));
    expect(asked.inputRequests["elicitUrl"]).toMatchObject({ params: { url } });
  });

  test("an accept without completion is never reported as completed", async () => {
    const reply = await replyTo((ctx) => ctx.elicitUrl("?", "https://pay.example/"), {
      elicitUrl: { action: "accept" },
    });
    if (reply.kind === "complete")
      expect(JSON.parse(text(reply))).toEqual({ action: "accept", completed: false });
    else question(reply);
  });
});
