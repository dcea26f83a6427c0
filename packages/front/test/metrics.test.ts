import { expect, test } from "vitest";
import { fakeRuntime } from "./support/fakeRuntime.ts";
import { serve } from "./support/requests.ts";

const read = { url: "/metrics", headers: { host: "localhost" } };

test("Metrics of others are joined to the front's own, and left out when they can't be told", async () => {
  let isAway = false;
  const metricsText = async (): Promise<string> => {
    if (isAway) throw new Error("away");
    return "reprise_of_others 1\n";
  };
  const { app } = serve({ runtime: fakeRuntime(), metricsText });
  const joined = await app.inject(read);
  expect(joined.body).toContain("reprise_front_streams 0\n");
  expect(joined.body.endsWith("\nreprise_of_others 1\n")).toBe(true);
  isAway = true;
  const alone = await app.inject(read);
  expect(alone.statusCode).toBe(200);
  expect(alone.body).toContain("reprise_front_streams 0\n");
  expect(alone.body).not.toContain("reprise_of_others");
});
