/**
 * An operator without a browser: opens the link that was printed, and calls the dashboard's API as its pages do.
 */

/** Somebody who has signed in. */
export interface Operator {
  get<T>(path: string): Promise<T>;
  post<T>(path: string, body?: object): Promise<T>;
  /** Asks again until it holds: history is kept in the background. */
  until<T>(path: string, holds: (value: T) => boolean): Promise<T>;
  readonly cookie: string;
}

/** Signs in with a link. */
export async function operatorWith(link: string): Promise<Operator> {
  const entered = await fetch(link, { redirect: "manual" });
  const cookie = entered.headers
    .getSetCookie()
    .map((line) => line.split(";")[0] ?? "")
    .filter((pair) => !pair.endsWith("="))
    .join("; ");
  const api = new URL("/ops/api/", link);
  const call = async <T>(path: string, init: RequestInit = {}): Promise<T> => {
    const response = await fetch(new URL(path, api), {
      ...init,
      headers: { cookie, ...(init.headers as Record<string, string>) },
    });
    const body: unknown = await response.json();
    if (!response.ok) throw new Error(`${response.status} ${JSON.stringify(body)}`);
    return body as T;
  };
  const { csrf } = await call<{ csrf: string }>("me");
  const headers = { "x-reprise-csrf": csrf, "content-type": "application/json" };
  const get = <T>(path: string): Promise<T> => call<T>(path);
  return {
    cookie,
    get,
    post: (path, body = {}) => call(path, { method: "POST", headers, body: JSON.stringify(body) }),
    async until<T>(path: string, holds: (value: T) => boolean): Promise<T> {
      const patience = Date.now() + 60_000;
      for (;;) {
        // What is being recorded may not be there at all yet.
        const value = await get<T>(path).catch(() => undefined);
        if (value !== undefined && holds(value)) return value;
        if (Date.now() > patience) throw new Error(`${path} is still ${JSON.stringify(value)}`);
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
    },
  };
}
