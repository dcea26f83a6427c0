/**
 * Shows where the golden files and the code differ: golden/README.md. Reads only.
 */
import { isDeepStrictEqual } from "node:util";
import { columnsOf, kinds, producedFor } from "./goldenFiles.ts";

const asked = process.argv.slice(2);
const lines: string[] = [];
for (const kind of asked.length === 0 ? kinds : asked) {
  const differing = columnsOf(kind).filter(
    (column) => !isDeepStrictEqual(producedFor(column), column.expected),
  );
  lines.push(`${kind}: ${differing.length} of ${columnsOf(kind).length} columns differ`);
  for (const column of differing) {
    lines.push(`  ${column.title}, ${column.revision}`);
    lines.push(`    golden: ${JSON.stringify(column.expected)}`);
    lines.push(`    now:    ${JSON.stringify(producedFor(column))}`);
  }
}
process.stdout.write(`${lines.join("\n")}\n`);
