/**
 * @reprise/ops: the operators' dashboard, as a fastify plugin.
 */
export type { LinkSignIn, LinkSignInOptions } from "./auth/linkSignIn.ts";
export { createLinkSignIn } from "./auth/linkSignIn.ts";
export type { OidcSignInOptions } from "./auth/oidcSignIn.ts";
export { createOidcSignIn } from "./auth/oidcSignIn.ts";
export type { Person } from "./auth/sessions.ts";
export type {
  Arrival,
  Beginning,
  CarriedText,
  Entrance,
  SignIn,
  SignInContext,
} from "./auth/signIn.ts";
export { opsPlugin } from "./opsPlugin.ts";
export type { OpsServerOptions, RunningOps } from "./opsServer.ts";
export { listenOps } from "./opsServer.ts";
export type { OpsOptions } from "./options.ts";
export type {
  KeyDesk,
  KeyStanding,
  QueueDesk,
  QueueStanding,
  WorkerDesk,
} from "./ports.ts";
export type { Role } from "./wire.ts";
