/**
 * Signing in at an OpenID provider: authorization code flow with PKCE, by openid-client, whose home this package is.
 *
 * 1. The provider's metadata is discovered at the first sign-in and kept; a provider that is away is a page that says so.
 * 2. State, nonce and code verifier are encrypted in a cookie of the browser that began, for ten minutes: who was sent a callback
 *    address of somebody else's sign-in has no such cookie, any dashboard of the deployment finishes what another one began,
 *    and a stranger who begins without end fills nothing. The provider takes a code once, so a callback works once.
 * 3. The role is decided here and once, from a claim of the ID token. Who has no role is told so and is no session.
 * 4. No token is kept.
 */
import { RepriseError } from "@reprise/errors";
import { type Clock, type Logger, silentLogger, systemClock } from "@reprise/runtime";
import * as oidc from "openid-client";
import type { Role } from "../wire.ts";
import type { Arrival, Beginning, CarriedText, Entrance, SignIn, SignInContext } from "./signIn.ts";

/** Options of `createOidcSignIn`. */
export interface OidcSignInOptions {
  /** The provider's issuer identifier. https, loopback excepted. */
  readonly issuer: string;
  readonly clientId: string;
  /** Undefined: a public client, which PKCE alone protects. */
  readonly clientSecret?: string | undefined;
  /** The dashboard as browsers reach it, such as `https://ops.example.com/ops`. The redirect URI is this and `/enter`. */
  readonly publicUrl: string;
  /** The claim that holds roles: a string or a list of strings; dots lead into objects. Default `roles`. */
  readonly rolesClaim?: string;
  /** Values that make an operator, or a viewer. Defaults `["operator"]` and `["viewer"]`. */
  readonly operatorRoles?: readonly string[];
  readonly viewerRoles?: readonly string[];
  /** Asked for besides `openid`. Default `["profile", "email"]`. */
  readonly scopes?: readonly string[];
}

/** What the browser that began carries. */
interface Transaction {
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
  readonly to?: string | undefined;
  readonly until: number;
}

const TRANSACTION_MS = 10 * 60 * 1000;
const TIMEOUT_S = 10;

/** Makes one. @throws RepriseError CONFIG_INVALID naming the option */
export function createOidcSignIn(options: OidcSignInOptions): SignIn {
  for (const name of ["issuer", "publicUrl"] as const) checkUrl(name, options[name]);
  if (options.clientId === "") {
    throw new RepriseError("CONFIG_INVALID", "clientId must name the client at the provider");
  }
  return new OidcSignIn(options);
}

class OidcSignIn implements SignIn {
  readonly invitation: string = "Sign in with the account that your organization gave you.";
  readonly button: string = "Sign in";
  readonly loopbackOnly: boolean = false;
  readonly secure: boolean;
  readonly #options: OidcSignInOptions;
  readonly #redirectUri: string;
  #wrapping: CarriedText | undefined;
  #clock: Clock = systemClock;
  #log: Logger = silentLogger;
  #provider: Promise<oidc.Configuration> | undefined;

  constructor(options: OidcSignInOptions) {
    this.#options = options;
    this.secure = options.publicUrl.startsWith("https:");
    this.#redirectUri = `${options.publicUrl.replace(/\/+$/, "")}/enter`;
  }

  start({ clock, logger, wrapping }: SignInContext): void {
    this.#clock = clock;
    this.#log = logger;
    this.#wrapping = wrapping;
  }

  async begin(to: string | undefined): Promise<Beginning> {
    const provider = await this.#discovered();
    const [state, nonce, verifier] = [
      oidc.randomState(),
      oidc.randomNonce(),
      oidc.randomPKCECodeVerifier(),
    ];
    const until = this.#clock.now() + TRANSACTION_MS;
    const carried: Transaction = { state, nonce, verifier, to, until };
    const transaction = await this.#started().wrap(JSON.stringify(carried));
    const { scopes = ["profile", "email"] } = this.#options;
    const location = oidc.buildAuthorizationUrl(provider, {
      redirect_uri: this.#redirectUri,
      scope: ["openid", ...scopes].join(" "),
      code_challenge: await oidc.calculatePKCECodeChallenge(verifier),
      code_challenge_method: "S256",
      state,
      nonce,
    });
    return { kind: "redirect", location: location.href, transaction };
  }

  async enter({ query, transaction: carried }: Arrival): Promise<Entrance> {
    const text = carried === undefined ? undefined : await this.#started().unwrap(carried);
    // Nobody but us wrote it.
    const transaction = text === undefined ? undefined : (JSON.parse(text) as Transaction);
    if (transaction === undefined || this.#clock.now() >= transaction.until) {
      return { ok: false, why: "This sign-in was not begun in this browser, or took too long." };
    }
    const { state, nonce, verifier, to } = transaction;
    const url = new URL(this.#redirectUri);
    url.search = query.toString();
    let claims: oidc.IDToken | undefined;
    try {
      const provider = await this.#discovered();
      const checks = {
        expectedState: state,
        expectedNonce: nonce,
        pkceCodeVerifier: verifier,
        idTokenExpected: true,
      };
      claims = (await oidc.authorizationCodeGrant(provider, url, checks)).claims();
    } catch (error) {
      this.#log.warn({ err: error }, "a sign-in to the dashboard was refused");
      return { ok: false, why: "The sign-in was refused." };
    }
    const role = claims === undefined ? undefined : this.#roleOf(claims);
    if (claims === undefined || role === undefined) {
      this.#log.warn(
        { subject: claims?.sub },
        "somebody without a role signed in to the dashboard",
      );
      return {
        ok: false,
        why: "Your account has no role here. Ask for the role of a viewer or an operator.",
      };
    }
    return { ok: true, person: { actor: actorOf(claims), role }, to };
  }

  #started(): CarriedText {
    if (this.#wrapping === undefined) throw new Error("a way to sign in is started by the plugin");
    return this.#wrapping;
  }

  #roleOf(claims: oidc.IDToken): Role | undefined {
    const {
      rolesClaim = "roles",
      operatorRoles = ["operator"],
      viewerRoles = ["viewer"],
    } = this.#options;
    const held = rolesIn(claims, rolesClaim);
    if (held.some((role) => operatorRoles.includes(role))) return "operator";
    return held.some((role) => viewerRoles.includes(role)) ? "viewer" : undefined;
  }

  /** One discovery at a time; a failed one is forgotten. */
  #discovered(): Promise<oidc.Configuration> {
    const { issuer, clientId, clientSecret } = this.#options;
    const url = new URL(issuer);
    this.#provider ??= oidc
      .discovery(
        url,
        clientId,
        undefined,
        clientSecret === undefined ? oidc.None() : oidc.ClientSecretPost(clientSecret),
        {
          timeout: TIMEOUT_S,
          // Only where no network lies between: checkUrl let nothing else through.
          execute: url.protocol === "http:" ? [oidc.allowInsecureRequests] : [],
        },
      )
      .catch((cause: unknown) => {
        this.#provider = undefined;
        throw new RepriseError("AUTH_UNAVAILABLE", "The identity provider can't be reached.", {
          cause,
        });
      });
    return this.#provider;
  }
}

/** The claim's strings; a dotted name leads into objects, as some providers nest roles. */
function rolesIn(claims: object, name: string): readonly string[] {
  const whole: unknown = (claims as Readonly<Record<string, unknown>>)[name];
  let value: unknown = whole ?? claims;
  if (whole === undefined) {
    for (const part of name.split(".")) {
      value =
        typeof value === "object" && value !== null
          ? (value as Readonly<Record<string, unknown>>)[part]
          : undefined;
    }
  }
  const list: readonly unknown[] = Array.isArray(value) ? value : [value];
  return list.filter((role) => typeof role === "string");
}

/** A name that people read, and the subject, which nobody can choose for themselves. */
function actorOf(claims: oidc.IDToken): string {
  const { sub, email, preferred_username: name } = claims;
  const shown = [email, name].find((text): text is string => typeof text === "string");
  return shown === undefined || shown === "" ? sub : `${shown} (${sub})`;
}

function checkUrl(name: string, text: string): void {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isLoopback =
    url !== undefined && ["localhost", "127.0.0.1", "[::1]"].includes(url.hostname);
  if (url?.protocol === "https:" || (url?.protocol === "http:" && isLoopback)) return;
  throw new RepriseError(
    "CONFIG_INVALID",
    `${name} must be an https URL (http only on loopback), not ${JSON.stringify(text)}`,
  );
}
