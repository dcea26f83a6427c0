import { spawnSync } from "node:child_process";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";

const child = fileURLToPath(new URL("support/unhandled.ts", import.meta.url));

/** Runs the child from source, as `reprise dev` runs a file. */
function run(what: string): {
  readonly status: number | null;
  readonly out: string;
  readonly err: string;
} {
  const args = ["--conditions=@reprise/source", "--import", "tsx", child, what];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: "utf8" });
  return { status, out: stdout, err: stderr };
}

describe("rejections that nobody handles", () => {
  // promise P3.4.3
  test("3.4: branches of a handler that are not awaited when it is suspended do not end the process", () => {
    expect(run("branches")).toEqual({ status: 0, out: "input_required\nalive\n", err: "" });
  });

  test("a rejection of the author's own code still ends the process, with its error shown", () => {
    const { status, out, err } = run("foreign");
    expect(status).not.toBe(0);
    expect(out).toBe("input_required\n");
    expect(err).toContain("a bug of the author's");
  });

  test("a process with a listener of its own hears both, and tells them apart by the brand", () => {
    expect(run("listener")).toEqual({
      status: 0,
      out: "input_required\na suspension\na suspension\na bug\nalive\n",
      err: "",
    });
  });
});
