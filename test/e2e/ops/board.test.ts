/**
 * bull-board's page as we serve it: of somebody else, and held to what our own pages are (no serious finding of axe, nothing from
 * other hosts), wide, in the dark and on a phone, without exceptions.
 */
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import {
  launchChromium,
  openPage,
  type PageLook,
  seriousFindings,
} from "../../support/chromium.ts";
import { type RedisServer, startRedis } from "../../support/redisServer.ts";
import { openDeployment } from "./support/deployment.ts";
import { notary } from "./support/notary.ts";

let redis: RedisServer;
beforeAll(async () => {
  redis = await startRedis();
});
afterAll(() => redis.stop());

/** Its pages, with words that are on them once they are there. */
const places: readonly (readonly [place: string, words: string])[] = [
  ["", "Waiting"],
  ["queue/default?status=latest", "jobData"],
  ["queue/default?status=paused", "Waiting"],
  ["job-schedulers", "No schedulers registered."],
];

const looks: readonly (readonly [string, PageLook])[] = [
  ["wide", {}],
  ["dark", { colorScheme: "dark" }],
  ["phone", { viewport: { width: 375, height: 740 } }],
];

test.each(looks)(
  "every page of the board, %s, has no serious finding of axe",
  {
    timeout: 180_000,
  },
  async (_name, look) => {
    const { operator, call, link, opsUrl } = await openDeployment(redis, notary);
    await operator.post("queues/default/pause");
    const waiting = call({ name: "note", arguments: {} });
    await operator.until<{ queues: readonly { waiting: number }[] }>(
      "queues",
      ({ queues }) => queues[0]?.waiting === 1,
    );
    const browser = await launchChromium();
    onTestFinished(() => browser.close());
    const { page, problems, strangers } = await openPage(browser, look);
    await page.goto(link());
    await page.getByRole("heading", { name: "Overview" }).waitFor();
    for (const [place, words] of places) {
      await page.goto(`${opsUrl}board/${place}`);
      await page.getByText(words).filter({ visible: true }).first().waitFor();
      await page.getByRole("button", { name: "Settings" }).waitFor();
      expect(await seriousFindings(page), place).toEqual([]);
    }
    await page.getByRole("button", { name: "Settings" }).click();
    await page.getByRole("dialog").waitFor();
    expect(await seriousFindings(page), "settings").toEqual([]);
    expect(problems).toEqual([]);
    expect(strangers).toEqual([]);
    await operator.post("queues/default/resume");
    await waiting;
  },
);
