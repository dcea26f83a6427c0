/**
 * The entry of the image: the dashboard of the deployment that serves the file that REPRISE_SERVER_FILE, or the first argument, names.
 *
 * Everything else is told by the settings of docs/configuration.md; `reprise ops` is the same at a terminal.
 */
import { asProgram, runOps } from "reprise/roles";

await asProgram(runOps);
