/**
 * Calls of `/ops/api`. A refusal is an `ApiError` with its code; a session that has ended leads to the sign-in page.
 */
import type { Me, Refusal } from "../src/wire.ts";

/** Where the dashboard is served. */
export const base = "/ops";

/** A refused or failed call. */
export class ApiError extends Error {
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

let csrf = "";

/** Who looks. Also keeps what every action has to carry. */
export async function loadMe(): Promise<Me> {
  const me = await get<Me>("me");
  csrf = me.csrf;
  return me;
}

/** Reads. @throws ApiError */
export async function get<T>(path: string): Promise<T> {
  return await call<T>(path, { headers: { accept: "application/json" } });
}

/** Acts. @throws ApiError */
export async function post<T>(path: string, body: object = {}): Promise<T> {
  const headers = {
    accept: "application/json",
    "content-type": "application/json",
    "x-reprise-csrf": csrf,
  };
  return await call<T>(path, { method: "POST", headers, body: JSON.stringify(body) });
}

async function call<T>(path: string, init: RequestInit): Promise<T> {
  let response: Response;
  try {
    response = await fetch(`${base}/api/${path}`, { ...init, credentials: "same-origin" });
  } catch {
    throw new ApiError("UNREACHABLE", "The dashboard's server does not answer.");
  }
  const body: unknown = await response.json().catch(() => undefined);
  // The dashboard's own server says what it is.
  if (response.ok) return body as T;
  if (response.status === 401) {
    const to = encodeURIComponent(location.pathname + location.search);
    location.assign(`${base}/signin?to=${to}`);
  }
  const { code, message } = (body as Refusal | undefined)?.error ?? {
    code: "UNREACHABLE",
    message: `The dashboard's server answered with ${response.status}.`,
  };
  throw new ApiError(code, message);
}

/** What somebody typed into a field; empty when there is none of that name. */
export function textOf(form: FormData, name: string): string {
  const value = form.get(name);
  return typeof value === "string" ? value : "";
}
