import { connect } from "node:net";
import {
  type AcceptedMail,
  createMail,
  createPayments,
  type OutsideWorld,
  type Refund,
} from "@reprise/shop";
import { expect, test } from "vitest";
import { list, outsideWorld, post, temporaryDirectory } from "./world.ts";

const refund: Refund = {
  id: "refund-1",
  at: "2026-07-28T00:00:00.000Z",
  idempotencyKey: "key",
  orderId: "1001",
  amount: 4990,
  currency: "EUR",
};

function mailOf({ url, smtpPort }: OutsideWorld) {
  return createMail({ smtpPort, logUrl: url });
}

async function order1001({ url }: OutsideWorld) {
  const order = await createPayments(url).order("1001");
  if (order === undefined) throw new Error("the shop has no order 1001");
  return order;
}

test("an accepted mail is in the log with its address, subject, Message-ID, key and text", async () => {
  const world = await outsideWorld();
  const delivery = await mailOf(world).receipt(await order1001(world), refund, "key");
  expect(delivery).toEqual({ messageId: "<key@shop.example.com>", to: "ada@example.com" });
  const [mail] = await list<AcceptedMail>(world.url, "/mails");
  expect(mail).toMatchObject({
    id: "mail-1",
    from: "shop@example.com",
    to: ["ada@example.com"],
    subject: "Your refund for order 1001",
    messageId: "<key@shop.example.com>",
    idempotencyKey: "key",
    text: expect.stringContaining("€49.90"),
  });
});

test("an invoice goes to the address that was asked for, in its language", async () => {
  const world = await outsideWorld();
  const destination = { address: "buchhaltung@example.org", language: "de" } as const;
  await mailOf(world).invoice(await order1001(world), destination, "key");
  const [mail] = await list<AcceptedMail>(world.url, "/mails");
  expect(mail).toMatchObject({
    to: ["buchhaltung@example.org"],
    subject: "Rechnung zur Bestellung 1001",
  });
});

test("the same mail twice is two mails: nothing is deduplicated", async () => {
  const world = await outsideWorld();
  const order = await order1001(world);
  await mailOf(world).receipt(order, refund, "key");
  await mailOf(world).receipt(order, refund, "key");
  const mails = await list<AcceptedMail>(world.url, "/mails");
  expect(mails.map(({ id, messageId }) => [id, messageId])).toEqual([
    ["mail-1", "<key@shop.example.com>"],
    ["mail-2", "<key@shop.example.com>"],
  ]);
});

test("mails are found by their key, also after a restart", async () => {
  const dataDir = await temporaryDirectory();
  const before = await outsideWorld(dataDir);
  const sent = await mailOf(before).receipt(await order1001(before), refund, "key");
  await before.close();

  const after = await outsideWorld(dataDir);
  expect(await mailOf(after).find("key")).toEqual(sent);
  expect(await mailOf(after).find("another")).toBeUndefined();
});

test("a connection that is dropped after the message leaves a mail that can be found", async () => {
  const world = await outsideWorld();
  await post(world.url, "/faults", { kind: "drop", path: "/mails", count: 1 });
  await expect(mailOf(world).receipt(await order1001(world), refund, "key")).rejects.toThrow();
  expect(await mailOf(world).find("key")).toEqual({
    messageId: "<key@shop.example.com>",
    to: "ada@example.com",
  });
});

test("a connection that is dropped before the message leaves none", async () => {
  const world = await outsideWorld();
  await post(world.url, "/faults", { kind: "drop", when: "before", path: "/mails", count: 1 });
  await expect(mailOf(world).receipt(await order1001(world), refund, "key")).rejects.toThrow();
  expect(await list(world.url, "/mails")).toEqual([]);
});

test("a message that breaks off in the middle is not accepted", async () => {
  const world = await outsideWorld();
  const socket = connect(world.smtpPort, "127.0.0.1").setEncoding("latin1");
  const replies = socket[Symbol.asyncIterator]();
  const commands = [
    "EHLO test",
    "MAIL FROM:<a@example.com>",
    "RCPT TO:<b@example.com>",
    "DATA",
    "Subject: half\r\n\r\nand then",
  ];
  for (const command of commands) {
    await replies.next(); // The greeting first, then each reply: who talks too soon is thrown out.
    socket.write(`${command}\r\n`);
  }
  socket.destroy();
  // Later than anything the broken message could still have led to.
  await mailOf(world).receipt(await order1001(world), refund, "whole");
  const mails = await list<AcceptedMail>(world.url, "/mails");
  expect(mails.map(({ idempotencyKey }) => idempotencyKey)).toEqual(["whole"]);
});
