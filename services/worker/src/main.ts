/**
 * The entry of the image: a worker over the file that REPRISE_SERVER_FILE, or the first argument, names.
 *
 * Everything else is told by the settings of docs/configuration.md; `reprise worker` is the same at a terminal.
 */
import { asProgram, runWorker } from "reprise/roles";

await asProgram(runWorker);
