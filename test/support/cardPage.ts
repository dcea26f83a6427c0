/**
 * A browser without script on the payment service's card page: reads the form, fills it in, sends it, follows.
 */

/** Cards of the test service: the first pays, the second's bank says no. */
export const cards = { accepted: "4242 4242 4242 4242", declined: "4000 0000 0000 0002" };

/** What the browser shows. */
export interface Shown {
  readonly status: number;
  /** Where it ended up. */
  readonly url: string;
  readonly html: string;
}

/** A filled-in form, ready to be sent as often as one likes. */
export interface FilledForm {
  readonly action: string;
  readonly fields: URLSearchParams;
}

/** Opens a page. */
export async function visit(url: string): Promise<Shown> {
  return shown(await fetch(url));
}

/** Opens the page and fills in its form, hidden fields included. */
export async function fillIn(url: string, number: string): Promise<FilledForm> {
  const page = await visit(url);
  const fields = new URLSearchParams();
  for (const [input] of page.html.matchAll(/<input[^>]*>/g)) {
    const name = /name="([^"]*)"/.exec(input)?.[1] ?? "";
    fields.set(name, /value="([^"]*)"/.exec(input)?.[1] ?? "");
  }
  const typed = { number, expires: `12/${new Date().getUTCFullYear() + 1}`, code: "123" };
  for (const [name, value] of Object.entries(typed)) {
    if (!fields.has(name)) throw new Error(`${url} has no field ${name}\n${page.html}`);
    fields.set(name, value);
  }
  const action = /<form[^>]*action="([^"]*)"/.exec(page.html)?.[1] ?? "";
  return { action: action === "" ? url : new URL(action, url).href, fields };
}

/** Sends a form and follows where the reply leads. */
export async function send({ action, fields }: FilledForm): Promise<Shown> {
  return shown(await fetch(action, { method: "POST", body: fields }));
}

/** Opens the page, fills it in and sends it. */
export async function payByCard(url: string, number: string = cards.accepted): Promise<Shown> {
  return send(await fillIn(url, number));
}

async function shown(response: Response): Promise<Shown> {
  return { status: response.status, url: response.url, html: await response.text() };
}
