/**
 * Loops of Restate's ask and answer: a call is held, its handler tells the id of an awakeable, the awakeable is
 * resolved through the ingress, the held call answers.
 *
 * Used by loadClient.ts. Each loop has two connections to the ingress; the questions of all come on one more, which
 * the handler's process writes to, so that neither side pays for a request to learn of a question.
 */
import { randomBytes } from "node:crypto";
import { performance } from "node:perf_hooks";
import { createInterface } from "node:readline";
import { HttpConnection, openSocket } from "./httpConnection.ts";
import type { Completed, OpenLoops } from "./loadClient.ts";
import { type AwakeableSpec, httpRequest, unexpected } from "./operations.ts";

/** Opens the connections. `url` is the handler's at the ingress. */
export async function openAwakeableLoops(
  url: URL,
  spec: AwakeableSpec,
  concurrency: number,
): Promise<OpenLoops> {
  const open = async (): Promise<HttpConnection> =>
    new HttpConnection(await openSocket(Number(url.port), url.hostname));
  const questions = await openSocket(spec.questionsPort, url.hostname);
  const pairs = await Promise.all(
    Array.from({ length: concurrency }, async () => [await open(), await open()] as const),
  );
  const asked = new Map<string, (id: string) => void>();
  createInterface({ input: questions }).on("line", (line) => {
    const [key = "", id = ""] = line.split(" ");
    asked.get(key)?.(id);
    asked.delete(key);
  });
  const unique = randomBytes(8).toString("hex");
  let nextKey = 0;

  const runOnce = async ([calls, answers]: (typeof pairs)[number]): Promise<void> => {
    const key = `${unique}${nextKey++}`;
    const called = calls.send(httpRequest(url, {}, JSON.stringify({ key })));
    const id = await new Promise<string>((resolve, reject) => {
      asked.set(key, resolve);
      // A call that ends without a question is an error, and must not leave the loop waiting.
      called.then((reply) => reject(unexpected(reply)), reject);
    });
    const answer = new URL(`/restate/awakeables/${id}/resolve`, url);
    const resolved = await answers.send(httpRequest(answer, {}, "true"));
    if (resolved.status !== 202) throw unexpected(resolved);
    const reply = await called;
    if (reply.status !== 200 || reply.body !== spec.text) throw unexpected(reply);
  };
  const runLoop = async (pair: (typeof pairs)[number], completed: Completed): Promise<void> => {
    for (let goesOn = true; goesOn; ) {
      const startedMs = performance.now();
      await runOnce(pair);
      goesOn = completed(startedMs);
    }
  };
  return {
    run: (completed) => pairs.map((pair) => runLoop(pair, completed)),
    close() {
      questions.destroy();
      for (const connection of pairs.flat()) connection.close();
    },
  };
}
