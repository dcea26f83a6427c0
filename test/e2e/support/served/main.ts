/**
 * The program of a steered server process: the embedded composition, or one of many instances, with a point at every
 * store commit, effect and response. Started by `serverProcess.ts` and told over IPC what to serve; ends with its parent.
 */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { listen } from "@reprise/front";
import { createStateSealer, keysFromSecrets } from "@reprise/request-state";
import { createRuntime, type ServerDefinition } from "@reprise/runtime";
import { createMail, createPayments, createShop, type Refund } from "@reprise/shop";
import { openLmdbStore } from "@reprise/store-lmdb";
import type { Command, Composition } from "../messages.ts";
import { blockedSteps } from "./blockedSteps.ts";
import { countingConfirmed } from "./confirmedEntries.ts";
import { openMember } from "./member.ts";
import { plainSteps } from "./plainSteps.ts";
import { pointedMail, pointedPayments } from "./pointedEffects.ts";
import { pointResponses } from "./pointedResponses.ts";
import { pointedStore } from "./pointedStore.ts";
import { Points, tell } from "./points.ts";

/** What is open now. */
interface Opened {
  close(): Promise<void>;
  whenIdle(then: () => void): void;
}

const points = new Points();
let opened: Opened | undefined;

process.on("message", (command: Command) => {
  obey(command).catch((error: unknown) => {
    tell({
      tells: "failed",
      message: error instanceof Error ? String(error.stack) : String(error),
    });
  });
});
process.once("disconnect", () => process.exit(0));
tell({ tells: "loaded" });

async function obey(command: Command): Promise<void> {
  switch (command.do) {
    case "go":
      points.go(command.point);
      return;
    case "open":
      opened = await open(command.composition);
      return;
    case "close":
      await opened?.close();
      opened = undefined;
      tell({ tells: "closed" });
      return;
    case "freeze":
      opened?.whenIdle(() => {
        tell({ tells: "freezing" });
        // The report has to leave before the process stops.
        setImmediate(() => opened?.whenIdle(() => process.kill(process.pid, "SIGSTOP")));
      });
  }
}

async function open(composition: Composition): Promise<Opened> {
  const { dataDir, leaseMs, member } = composition;
  if (member !== undefined) {
    const instance = await openMember(serverOf(composition), member, leaseMs, points);
    const { url } = instance;
    tell({ tells: "opened", ...(url === undefined ? {} : { url }) });
    return instance;
  }
  const directory = join(dataDir, "store");
  const lmdb = await openLmdbStore(leaseMs === undefined ? { directory } : { directory, leaseMs });
  const { store, whenIdle } = pointedStore(lmdb, points);
  const sealer = createStateSealer({ keys: keysFromSecrets(await lmdb.stateKey()) });
  const runtime = createRuntime({ server: serverOf(composition), store, sealer });
  const front = await listen({ runtime, port: 0 });
  pointResponses(front.app.server, points);
  tell({ tells: "opened", url: front.url });
  return {
    whenIdle,
    async close() {
      const drained = runtime.close();
      await front.close();
      await drained;
    },
  };
}

function serverOf(composition: Composition): ServerDefinition {
  const { server, outsideUrl, smtpPort, dataDir, confirmedFile } = composition;
  const payments = pointedPayments(createPayments(outsideUrl), points);
  if (server === "plainSteps") return plainSteps(payments, (key) => findRefund(outsideUrl, key));
  if (server === "blockedSteps") return blockedSteps(payments, confirmedFile ?? "");
  const mail = pointedMail(createMail({ smtpPort, logUrl: outsideUrl }), points);
  const scratchDir = join(dataDir, "scratch");
  mkdirSync(scratchDir, { recursive: true });
  const shop = createShop({ payments, mail, scratchDir });
  return confirmedFile === undefined ? shop : countingConfirmed(shop, confirmedFile);
}

async function findRefund(outsideUrl: string, idempotencyKey: string): Promise<Refund | undefined> {
  const url = new URL("/refunds", outsideUrl);
  url.searchParams.set("idempotencyKey", idempotencyKey);
  const found = (await (await fetch(url)).json()) as readonly Refund[];
  return found[0];
}
