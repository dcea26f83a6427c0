/**
 * DBOS's side of the suite `peers`: workflows in an HTTP application. Arguments: the data directory (unused), the URL of
 * the PostgreSQL database.
 *
 * `POST /steps/N` runs a workflow and answers with its result. `POST /ask` starts one that waits for an answer, and
 * answers with where to POST it; that POST sends the answer and answers with the workflow's result. The result is awaited
 * on the handle of the process that started the workflow: a retrieved handle polls once a second.
 */
import { createServer } from "node:http";
import process from "node:process";
import { DBOS } from "@dbos-inc/dbos-sdk";
import { announce, listen } from "./announce.mjs";

const [, systemDatabaseUrl] = process.argv.slice(2);
const stepResult = "0123456789abcdef".repeat(16);
const answerWithinSeconds = 60;

DBOS.setConfig({
  name: "bench",
  systemDatabaseUrl,
  systemDatabasePoolSize: 20,
  logLevel: "error",
});

function stepping(count) {
  const run = async () => {
    for (let index = 0; index < count; index += 1) {
      await DBOS.runStep(async () => stepResult, { name: `step ${index}` });
    }
    return `${count} steps`;
  };
  return DBOS.registerWorkflow(run, { name: `steps${count}` });
}

const steps = new Map([0, 1, 5].map((count) => [`/steps/${count}`, stepping(count)]));
const ask = DBOS.registerWorkflow(
  async () => ((await DBOS.recv("answer", answerWithinSeconds)) === true ? "Refunded." : "Kept."),
  { name: "ask" },
);
const waiting = new Map();

async function respond(path) {
  const workflow = steps.get(path);
  if (workflow !== undefined) {
    const handle = await DBOS.startWorkflow(workflow)();
    return handle.getResult();
  }
  if (path === "/ask") {
    const handle = await DBOS.startWorkflow(ask)();
    waiting.set(handle.workflowID, handle);
    return `/answer/${handle.workflowID}`;
  }
  const id = path.slice("/answer/".length);
  const handle = waiting.get(id);
  waiting.delete(id);
  await DBOS.send(id, true, "answer");
  return handle.getResult();
}

await DBOS.launch();
const server = createServer((request, response) => {
  request.resume();
  const reply = (status, text) => {
    response.writeHead(status, { "content-length": Buffer.byteLength(text) }).end(text);
  };
  respond(request.url).then(
    (text) => reply(200, text),
    (error) => reply(500, String(error)),
  );
});
server.keepAliveTimeout = 600_000;
const port = await listen(server);
announce(`http://127.0.0.1:${port}`, () => DBOS.shutdown());
