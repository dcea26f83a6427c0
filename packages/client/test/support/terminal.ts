/** Streams that stand for a terminal: lines typed beforehand, and all that was printed. */
import { PassThrough, Writable } from "node:stream";

export interface Screen {
  readonly stream: Writable;
  text(): string;
}

export function screen(): Screen {
  let text = "";
  const stream = new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      text += chunk.toString("utf8");
      done();
    },
  });
  return { stream, text: () => text };
}

/** An input on which `lines` were typed; it ends behind them unless `stays`. */
export function typed(lines: readonly string[], stays = false): PassThrough {
  const input = new PassThrough();
  for (const line of lines) input.write(`${line}\n`);
  if (!stays) input.end();
  return input;
}

/**
 * A terminal at which a person types each line once `when` is on the screen; null ends the input, a function is called instead.
 * `readline` sees both streams as a TTY.
 */
export function person(
  script: readonly { readonly when: string; readonly type: string | null | (() => void) }[],
): {
  readonly input: PassThrough;
  readonly dialog: Screen;
} {
  const input = Object.assign(new PassThrough(), { isTTY: true });
  const inner = screen();
  const left = [...script];
  const stream = new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      inner.stream.write(chunk);
      const [next] = left;
      if (next !== undefined && inner.text().includes(next.when)) {
        left.shift();
        const { type } = next;
        setImmediate(() => {
          if (typeof type === "function") type();
          else if (type === null) input.end();
          else input.write(`${type}\n`);
        });
      }
      done();
    },
  });
  return { input, dialog: { stream: Object.assign(stream, { isTTY: true }), text: inner.text } };
}
