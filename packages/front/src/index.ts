export type { Authenticate, AuthOutcome, AuthRequest } from "./auth.ts";
export { createFront } from "./front.ts";
export type { HttpServerOptions, ListenOptions, RunningFront } from "./httpServer.ts";
export { createHttpServer, listen } from "./httpServer.ts";
export type { FrontOptions } from "./options.ts";
