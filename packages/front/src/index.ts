export type { Authenticate, AuthOutcome, AuthRequest } from "./auth/authenticate.ts";
export type { BearerAuth, BearerAuthOptions } from "./auth/bearerAuth.ts";
export { createBearerAuth } from "./auth/bearerAuth.ts";
export type { FetchJson, JsonReply } from "./auth/fetchJson.ts";
export type { ProtectedResource } from "./auth/protectedResource.ts";
export { createFront } from "./front.ts";
export type { HttpServerOptions, ListenOptions, RunningFront } from "./httpServer.ts";
export { createHttpServer, listen } from "./httpServer.ts";
export type { FrontOptions } from "./options.ts";
