import { resolve } from "node:path";
import { readConfig, readServedConfig } from "@reprise/shop";
import { expect, test } from "vitest";

test("without any setting the shop is at 3000, 3001 and 3003, with data in .reprise", () => {
  expect(readConfig({})).toEqual({
    port: 3000,
    shopPort: 3001,
    smtpPort: 0,
    pagePort: 3003,
    dataDir: resolve(".reprise"),
  });
});

test("every setting is taken from its variable", () => {
  const ports = { PORT: "4000", SHOP_PORT: "0", SHOP_SMTP_PORT: "2525", SHOP_PAGE_PORT: "4002" };
  expect(readConfig({ ...ports, REPRISE_DATA: "/data" })).toEqual({
    port: 4000,
    shopPort: 0,
    smtpPort: 2525,
    pagePort: 4002,
    dataDir: "/data",
  });
});

test("an empty variable counts as none", () => {
  expect(readConfig({ PORT: "", REPRISE_DATA: "" })).toEqual(readConfig({}));
});

test.each(["abc", "-1", "65536", "80.5", "0x50", " 80", "1e3"])(
  "PORT=%j is refused with CONFIG_INVALID, naming the variable",
  (port) => {
    expect(() => readConfig({ PORT: port })).toThrow(
      expect.objectContaining({ code: "CONFIG_INVALID", message: expect.stringContaining("PORT") }),
    );
  },
);

test("tools in processes of their own look for the outside world where the shop has it", () => {
  expect(readServedConfig({})).toEqual({
    shopUrl: "http://127.0.0.1:3001",
    publicUrl: "http://127.0.0.1:3001",
    smtpHost: "127.0.0.1",
    smtpPort: 2525,
    scratchDir: resolve(".reprise/shop/scratch"),
    pagePort: undefined,
    pageHost: "127.0.0.1",
  });
  const env = { SHOP_URL: "http://shop:4001", SHOP_SMTP_PORT: "25", SHOP_SCRATCH: "/scratch" };
  expect(readServedConfig(env)).toEqual({
    shopUrl: "http://shop:4001",
    publicUrl: "http://shop:4001",
    smtpHost: "shop",
    smtpPort: 25,
    scratchDir: "/scratch",
    pagePort: undefined,
    pageHost: "127.0.0.1",
  });
  expect(readServedConfig({ ...env, SHOP_SMTP_HOST: "mail" }).smtpHost).toBe("mail");
  const page = {
    SHOP_PAGE_PORT: "3002",
    SHOP_PAGE_HOST: "::",
    SHOP_MCP_URL: "http://127.0.0.1:3000/mcp",
    SHOP_PUBLIC_URL: "https://pay.example",
  };
  expect(readServedConfig({ ...env, ...page })).toMatchObject({
    pagePort: 3002,
    pageHost: "::",
    mcpUrl: "http://127.0.0.1:3000/mcp",
    publicUrl: "https://pay.example",
  });
});

test.each([
  ["SHOP_URL", "here"],
  ["SHOP_PUBLIC_URL", "there"],
  ["SHOP_MCP_URL", "somewhere"],
  ["SHOP_PAGE_PORT", "http"],
])("%s=%s is refused with CONFIG_INVALID, naming the variable", (name, value) => {
  expect(() => readServedConfig({ [name]: value })).toThrow(
    expect.objectContaining({ code: "CONFIG_INVALID", message: expect.stringContaining(name) }),
  );
});
