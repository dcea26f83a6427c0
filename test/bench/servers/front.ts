/**
 * A front on Redis. Arguments: a data directory (unused), the settings as the JSON of a configuration file.
 */
import { parseSettings, serveFront } from "reprise/roles";
import { benchServer } from "./definition.ts";
import { announce } from "./serverProcess.ts";

const [, text] = process.argv.slice(2);
if (text === undefined) throw new RangeError("the second argument must be the settings");

const readSecretFile = (): string => "";
const settings = parseSettings({ env: {}, file: { name: "settings", text }, readSecretFile });
announce(await serveFront(benchServer, settings));
