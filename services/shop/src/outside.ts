/**
 * The program of the outside world: `outside.ts --port 3001 --smtp-port 0 --data DIR --merchant-url URL --notices-url URL`,
 * with the options of outsideWorld.ts.
 *
 * Says where it listens as one line of JSON on stdout, and to its parent if it has one that listens. Ends on
 * SIGTERM, and with its parent; SIGINT is the parent's business, because Ctrl-C reaches both and what the shop
 * is still finishing needs the payment service until the end.
 */
import process from "node:process";
import { parseArgs } from "node:util";
import { startOutsideWorld } from "./outsideWorld.ts";

const { values } = parseArgs({
  options: {
    host: { type: "string", default: "127.0.0.1" },
    port: { type: "string", default: "0" },
    "smtp-port": { type: "string", default: "0" },
    data: { type: "string", default: ".reprise/shop" },
    "merchant-url": { type: "string" },
    "notices-url": { type: "string" },
  },
});

const { "merchant-url": merchantUrl, "notices-url": noticesUrl } = values;

try {
  const world = await startOutsideWorld({
    host: values.host,
    port: Number(values.port),
    smtpPort: Number(values["smtp-port"]),
    dataDir: values.data,
    ...(merchantUrl === undefined ? {} : { merchantUrl }),
    ...(noticesUrl === undefined ? {} : { noticesUrl }),
  });
  const stop = () => void world.close().then(() => process.exit(0));
  process.once("SIGTERM", stop);
  process.once("disconnect", stop);
  if (process.connected) process.on("SIGINT", () => undefined);
  tell({ url: world.url, smtpPort: world.smtpPort });
} catch (error) {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  tell({ failed: error instanceof Error ? error.message : String(error), code });
  process.exitCode = 1;
  process.disconnect?.();
}

function tell(message: object): void {
  process.stdout.write(`${JSON.stringify(message)}\n`);
  process.send?.(message);
}
