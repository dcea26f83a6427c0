/**
 * The entry of the image: the HTTP front over the file that REPRISE_SERVER_FILE, or the first argument, names.
 *
 * Everything else is told by the settings of docs/configuration.md; `reprise front` is the same at a terminal.
 */
import { asProgram, runFront } from "reprise/roles";

await asProgram(runFront);
