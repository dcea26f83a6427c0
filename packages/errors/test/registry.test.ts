/** What the registry promises to those who match on codes: each means one thing, on the wire too. */
import { errorCodes, errorSpecs } from "@reprise/errors";
import { describe, expect, test } from "vitest";

/** JSON-RPC 2.0 section 5.1 and MCP 2026-07-28, "Error codes": shared by whatever they describe. */
const defined = new Set([-32700, -32600, -32601, -32602, -32603, -32020, -32021, -32022]);

const specs = errorCodes.map((code) => [code, errorSpecs[code]] as const);

describe("the registry", () => {
  test("has a row for every code and no other", () => {
    expect(Object.keys(errorSpecs)).toEqual([...errorCodes]);
    expect(new Set(errorCodes).size).toBe(errorCodes.length);
  });

  test("names codes in upper snake case", () => {
    expect(errorCodes.filter((code) => !/^[A-Z]+(_[A-Z]+)*$/.test(code))).toEqual([]);
  });

  test("uses JSON-RPC codes that are defined, or its own outside the reserved range", () => {
    const reserved = (rpcCode: number): boolean => rpcCode >= -32768 && rpcCode <= -32000;
    const wrong = specs.filter(([, { rpcCode }]) => {
      return !Number.isInteger(rpcCode) || (reserved(rpcCode) && !defined.has(rpcCode));
    });
    expect(wrong).toEqual([]);
  });

  test("gives no two codes the same JSON-RPC code of ours", () => {
    const ours = specs.map(([, spec]) => spec.rpcCode).filter((rpcCode) => !defined.has(rpcCode));
    expect(new Set(ours).size).toBe(ours.length);
  });

  test("says of no two codes the same: a code stands for one decision of the caller", () => {
    expect(new Set(specs.map(([, spec]) => spec.when)).size).toBe(specs.length);
  });

  test("tells in sentences when a code is raised and what to do", () => {
    const isSentence = (text: string): boolean => /^[A-Z`c].*\.$/.test(text);
    const wrong = specs.filter(([, spec]) => !isSentence(spec.when) || !isSentence(spec.remedy));
    expect(wrong).toEqual([]);
  });

  test("uses HTTP statuses that the refusal table of the design has", () => {
    const statuses = new Set([200, 400, 401, 403, 404, 406, 408, 413, 415, 431, 500, 503]);
    expect(specs.filter(([, spec]) => !statuses.has(spec.httpStatus))).toEqual([]);
  });

  test("calls no refusal with a 4xx status retryable: the same bytes are refused again", () => {
    const refusals = specs.filter(([, { httpStatus }]) => httpStatus >= 400 && httpStatus < 500);
    expect(refusals.length).toBeGreaterThan(0);
    expect(refusals.filter(([, spec]) => spec.retryable)).toEqual([]);
  });

  test("cannot be changed by a caller", () => {
    expect(() => Object.assign(errorSpecs.BUSY, { retryable: false })).toThrow(TypeError);
    expect(() => Object.assign(errorSpecs, { BUSY: errorSpecs.INTERNAL })).toThrow(TypeError);
    expect(() => (errorCodes as string[]).push("MINE")).toThrow(TypeError);
  });
});
