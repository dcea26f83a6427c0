/**
 * The oldest Node.js that Reprise runs on, checked before anything else can fail in its own words.
 */
import { RepriseError } from "@reprise/errors";

const least = [20, 19] as const;

/** @throws RepriseError NODE_TOO_OLD */
export function requireNode(version: string): void {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  if (major > least[0] || (major === least[0] && minor >= least[1])) return;
  throw new RepriseError(
    "NODE_TOO_OLD",
    `Node.js ${version} is too old for Reprise; install ${least.join(".")} or newer`,
  );
}
