import { resolve } from "node:path";
import { readConfig, readServedConfig } from "@reprise/shop";
import { expect, test } from "vitest";

test("without any setting the shop is at 3000 and 3001, with data in .reprise", () => {
  expect(readConfig({})).toEqual({
    port: 3000,
    shopPort: 3001,
    smtpPort: 0,
    dataDir: resolve(".reprise"),
  });
});

test("every setting is taken from its variable", () => {
  const env = { PORT: "4000", SHOP_PORT: "0", SHOP_SMTP_PORT: "2525", REPRISE_DATA: "/data" };
  expect(readConfig(env)).toEqual({ port: 4000, shopPort: 0, smtpPort: 2525, dataDir: "/data" });
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
    smtpHost: "127.0.0.1",
    smtpPort: 2525,
    scratchDir: resolve(".reprise/shop/scratch"),
  });
  const env = { SHOP_URL: "http://shop:4001", SHOP_SMTP_PORT: "25", SHOP_SCRATCH: "/scratch" };
  expect(readServedConfig(env)).toEqual({
    shopUrl: "http://shop:4001",
    smtpHost: "shop",
    smtpPort: 25,
    scratchDir: "/scratch",
  });
  expect(readServedConfig({ ...env, SHOP_SMTP_HOST: "mail" }).smtpHost).toBe("mail");
});

test("SHOP_URL=here is refused with CONFIG_INVALID, naming the variable", () => {
  expect(() => readServedConfig({ SHOP_URL: "here" })).toThrow(
    expect.objectContaining({
      code: "CONFIG_INVALID",
      message: expect.stringContaining("SHOP_URL"),
    }),
  );
});
