/**
 * Texts that lie in Redis for days, made short: deflated against the words that they are made of.
 *
 * Called by the history. Nothing else reads or writes what this makes.
 *
 * K1 What an earlier release packed is unpacked for ever: a change of `words` needs a mark of its own.
 * K2 A text that would not become shorter stays as it is. JSON begins with no letter of the alphabet, so the two are never mixed up.
 */
import { deflateRawSync, inflateRawSync } from "node:zlib";

const MARK = "z";

/** What the texts mostly say. What stands at the end is found by the shortest references. */
const words = Buffer.from(
  [
    '"prompts/get","resources/read","kind":"prompt","resource","effects":"repeatable"',
    '"status":"interrupted","mismatched","parked","cancelled","undone","failed","released","attention":"uncertain"',
    '"cause":"again","takeover","sweep","operator","undo","queuedMs":,"traceparent":"00-","firstTraceparent":"00-","code":"',
    '{"type":"step_ended","step":"","outcome":"not_done","durationMs":0,"undo":true},{"type":"acted","action":"expired"',
    '"type":"replayed","kind":"elicit","elicitUrl","sample","listRoots","action":"decline","cancel","error","result"',
    '"uncertain":[],"undoFailed":[],"protocolVersion":"2025-11-25","status":"running"',
    '{"format":1,"summary":{"handler":{"kind":"tool","name":""},"status":"completed","principal":"anonymous","client":"',
    '","protocolVersion":"2026-07-28","round":0,"version":"1.0.0","effects":"once","startedAt":1,"updatedAt":1},"epoch":1,"told":1,',
    '"asked":{"asks":[{"key":"confirm","kind":"confirm"}],"since":1,"until":1},"mark":"',
    '[{"method":"tools/call","handler":{"kind":"tool","name":""},"effects":"once","principal":"anonymous","client":"',
    '","protocolVersion":"2026-07-28","round":0,"epoch":1,"attempt":1,"version":"1.0.0","runStartedAt":1,"instance":"',
    '","at":1,"type":"attempt_started","cause":"call"},{"at":1,"type":"step_started","step":"","try":1,"undo":false},',
    '{"at":1,"type":"step_ended","step":"","outcome":"completed","tries":1,"durationMs":1,"undo":false},',
    '{"at":1,"type":"asked","asks":[{"key":"confirm","kind":"confirm"}],"until":1},',
    '{"at":1,"type":"attempt_ended","outcome":"suspended","durationMs":1,"status":"waiting"},',
    '{"round":1,"at":1,"type":"attempt_started","cause":"answer"},',
    '{"at":1,"type":"answered","key":"confirm","kind":"confirm","action":"accept","waitedMs":1},',
    '{"at":1,"type":"attempt_ended","outcome":"completed","durationMs":1,"status":"completed"}]',
  ].join(""),
);
/** Of little memory: most of the time for a short text would go into clearing it. */
const small = { dictionary: words, level: 6, memLevel: 3, windowBits: 12 };

/** The text, or something shorter that `unpacked` makes it of. */
export function packed(text: string): string {
  const short = MARK + deflateRawSync(text, small).toString("base64url");
  return short.length < text.length ? short : text;
}

/** What was packed. @throws Error for what is damaged */
export function unpacked(text: string): string {
  if (!text.startsWith(MARK)) return text;
  return inflateRawSync(Buffer.from(text.slice(1), "base64url"), small).toString("utf8");
}
