/**
 * A host of revision 2025-11-25: the official v1 SDK's client, which answers questions on its call's stream and gets that
 * stream again by `Last-Event-ID`. When a call breaks for good, or the SDK has given its stream or an answer up, it opens a new
 * session and makes the same call again, which the tool's own idempotency key joins to the first one.
 *
 * The SDK cancels a call that takes longer than its time limit; that the run is then RUN_CANCELLED is its own doing. By default that is
 * a minute, which a call of several turns can need where the store stands still most of the time: this host waits as long as its
 * person does.
 */
import { setTimeout as pause } from "node:timers/promises";
import type { Answer, Asked } from "../../support/officialClient.ts";
import { connectSdkV1, type SdkV1Client } from "../../support/sdkV1Client.ts";
import type { Visit } from "./carefulClient.ts";
import { Payer } from "./payer.ts";
import type { Ended, Ending } from "./record.ts";

const modes = { form: {}, url: {} };
const retryPauseMs = 300;

/** Does an errand whose only question is a confirm or a page, and whose tool has a key of its own. */
export async function legacyVisit(visit: Visit, stragglers: Promise<unknown>[]): Promise<Ended> {
  const { url, caller, errand, draw, record, thinkMs, patienceMs } = visit;
  const startMs = performance.now();
  const until = startMs + patienceMs;
  let doneAtMs: number | undefined;
  const payer = new Payer({ ...visit, until, draw: draw.of(errand.tag) });
  const ended = (ending: Ending): Ended => {
    stragglers.push(payer.gone());
    const page = { thankedAtMs: payer.thankedAtMs, doneAtMs };
    return {
      ...{ errand, ending, startedAnew: 0, era: "legacy" as const },
      ...{ lastedMs: performance.now() - startMs, endedAtMs: performance.now() },
      ...(errand.page === undefined ? {} : { page }),
    };
  };
  const answer = async ({ params }: Asked): Promise<Answer> => {
    await pause(draw.between(...thinkMs));
    const { url: page } = params;
    if (typeof page !== "string") {
      return errand.name === "refundDeclined" ? "decline" : { accept: { confirm: true } };
    }
    const said = await payer.answer(page);
    doneAtMs = performance.now();
    return said;
  };
  for (;;) {
    const sinceMs = performance.now();
    const opened: SdkV1Client[] = [];
    try {
      const connected = await connectSdkV1(url, answer, modes, { "x-caller": caller });
      opened.push(connected);
      const result = await Promise.race([
        connected.client.callTool({ name: errand.tool, arguments: { ...errand.args } }, undefined, {
          timeout: Math.max(1, until - sinceMs),
        }),
        connected.broken,
      ]);
      record.took(sinceMs, "result", { isWhole: true });
      const content = result.content as readonly { readonly text?: string }[];
      const text = content.map((each) => each.text ?? "").join("\n");
      return ended({ kind: "result", text, isError: result.isError === true });
    } catch (error) {
      const refused = refusalIn(error);
      record.took(sinceMs, refused?.code ?? "lost", { isWhole: true });
      if (refused?.code === "RUN_CANCELLED") return ended({ kind: "refused", ...refused });
      if (performance.now() > until) return ended({ kind: "unknown", why: String(error) });
      await pause(retryPauseMs);
    } finally {
      for (const each of opened) void each.close().catch(() => undefined);
    }
  }
}

/** What the server said, as the SDK throws it: with `data` where an error had some. */
function refusalIn(
  error: unknown,
): { readonly code: string; readonly message: string } | undefined {
  if (!(error instanceof Error) || !("data" in error)) return undefined;
  const { data, message } = error;
  if (typeof data !== "object" || data === null || !("code" in data)) return undefined;
  return { code: String(data.code), message };
}
