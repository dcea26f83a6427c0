/** A front or a worker with the server under test, as one program that can be bundled: `main.ts front`. */
import { serveRole } from "../../support/cluster/role/serveRole.ts";
import { conformanceServer } from "../fixtureServer.ts";

await serveRole(conformanceServer("repeatable"));
