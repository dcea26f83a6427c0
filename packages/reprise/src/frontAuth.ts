/**
 * Who may call a front: decided by the settings, or by what the served file exports, never by both.
 *
 * Called by the roles and by `reprise dev` before they listen.
 */
import { RepriseError } from "@reprise/errors";
import { type BearerAuth, createBearerAuth, type ListenOptions } from "@reprise/front";
import type { Logger } from "@reprise/runtime";
import type { TokenSettings } from "./parseSettings.ts";

/** How a front is told who calls. */
export type FrontAuth = Pick<ListenOptions, "authenticate" | "protectedResource">;

/** The settings' names of what `createBearerAuth` is given: its messages begin with its own. */
const settingOf: Readonly<Record<string, string>> = {
  resource: "publicUrl",
  issuers: "tokenIssuers",
  audiences: "tokenAudiences",
  requiredScopes: "tokenScopes",
  clockTolerance: "tokenClockTolerance",
};

/**
 * The options of the front. With issuers in the settings, their keys begin to load: a front does not wait for them, and
 * an issuer that is away is a line in the log.
 * @throws RepriseError CONFIG_INVALID
 */
export function frontAuth(settings: TokenSettings, exported: FrontAuth, logger: Logger): FrontAuth {
  if (settings.tokenIssuers.length === 0) return definedOf(exported);
  if (exported.authenticate !== undefined || exported.protectedResource !== undefined) {
    throw new RepriseError(
      "CONFIG_INVALID",
      "the served file exports authenticate or protectedResource, and the settings name tokenIssuers: only one of them can decide who calls",
    );
  }
  const { authenticate, protectedResource, warmUp } = bearerAuth(settings, logger);
  // It never rejects.
  void warmUp();
  return { authenticate, protectedResource };
}

function bearerAuth(settings: TokenSettings, logger: Logger): BearerAuth {
  const { publicUrl = "", tokenIssuers, tokenAudiences, tokenScopes } = settings;
  try {
    return createBearerAuth({
      resource: publicUrl,
      issuers: tokenIssuers,
      ...(tokenAudiences.length === 0 ? {} : { audiences: tokenAudiences }),
      requiredScopes: tokenScopes,
      clockTolerance: settings.tokenClockTolerance,
      logger,
    });
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    const message = error.message.replace(/^\w+/, (option) => settingOf[option] ?? option);
    throw new RepriseError("CONFIG_INVALID", message, { cause: error });
  }
}

function definedOf({ authenticate, protectedResource }: FrontAuth): FrontAuth {
  return {
    ...(authenticate === undefined ? {} : { authenticate }),
    ...(protectedResource === undefined ? {} : { protectedResource }),
  };
}
