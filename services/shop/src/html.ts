/**
 * Pages of plain HTML, for the payment service's card page and the shop's own: no script, nothing from elsewhere.
 *
 * 1. What is put into `html` is escaped, unless it is HTML that `html` made.
 * 2. A page loads nothing, can't be framed, isn't stored, tells nobody its address (it may hold an id that only one
 *    person has), and sends forms only to where it is told.
 */
import { createHash } from "node:crypto";

/** Text that is HTML already. */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** A piece of HTML with values in it; an absent one leaves nothing. */
export function html(
  pieces: TemplateStringsArray,
  ...values: readonly (string | Html | undefined)[]
): Html {
  const texts = values.map((value) => {
    if (value instanceof Html) return value.text;
    return (value ?? "").replaceAll(/[&<>"']/g, (sign) => entities[sign] ?? sign);
  });
  return new Html(pieces.map((piece, index) => `${piece}${texts[index] ?? ""}`).join(""));
}

const style = `
body { font: 16px/1.5 system-ui, sans-serif; max-width: 26rem; margin: 3rem auto; padding: 0 1rem }
label { display: block; margin-top: 1rem }
input { display: block; box-sizing: border-box; width: 100%; padding: .5rem; font: inherit }
button { margin-top: 1.5rem; padding: .6rem 1.2rem; font: inherit }
[role=alert] { color: #a00000; font-weight: bold }
`;
const styleDigest = createHash("sha256").update(style).digest("base64");

/** A whole page. */
export function htmlPage(title: string, body: Html): string {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="robots" content="noindex">
<title>${title}</title>
<style>${new Html(style)}</style>
</head>
<body>
<h1>${title}</h1>
${body}
</body>
</html>
`.text;
}

/**
 * The headers of a page.
 * @param formTargets origins, or `'self'`, that its forms may go to, redirects of the reply included (CSP form-action)
 */
export function pageHeaders(formTargets: readonly string[] = []): Readonly<Record<string, string>> {
  const targets = formTargets.length === 0 ? "'none'" : formTargets.join(" ");
  return {
    "content-type": "text/html; charset=utf-8",
    "content-security-policy": `default-src 'none'; style-src 'sha256-${styleDigest}'; form-action ${targets}; frame-ancestors 'none'; base-uri 'none'`,
    "cache-control": "no-store",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
  };
}
