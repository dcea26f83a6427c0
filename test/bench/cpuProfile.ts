/**
 * Summarizes a V8 CPU profile: which parts and which of our functions the busy time went to.
 *
 * Pure; profileSuite.ts records and reads the file. Shares are of busy time, so idle waiting does not dilute them.
 */

/** The parts of a `.cpuprofile` file that are read here. */
export interface CpuProfile {
  readonly nodes: readonly ProfileNode[];
  readonly samples: readonly number[];
  /** Microseconds before each sample. */
  readonly timeDeltas: readonly number[];
}

interface ProfileNode {
  readonly id: number;
  readonly callFrame: {
    readonly functionName: string;
    readonly url: string;
    readonly lineNumber: number;
  };
  readonly children?: readonly number[];
}

/** A name and its share of the busy time, 0 to 1. */
export interface Share {
  readonly name: string;
  readonly share: number;
}

/** Where the busy time went; greatest first. */
export interface ProfileSummary {
  readonly busyMs: number;
  /** Own time by package or library. */
  readonly parts: readonly Share[];
  /** Own time by function, all parts. */
  readonly functions: readonly Share[];
  /** Time of our functions with all that they called. */
  readonly oursInclusive: readonly Share[];
}

const ourFile = /\/packages\/([^/]+)\/(?:src|dist)\/([^?]+)/;
const libraryFile = /\/node_modules\/((?:@[^/]+\/)?[^/]+)\//;

/** Summarizes a profile without its first `skipMs`, in which code was loaded and compiled. */
export function summarize(profile: CpuProfile, skipMs: number): ProfileSummary {
  const nodes = new Map(profile.nodes.map((node) => [node.id, node]));
  const parents = new Map<number, number>();
  for (const node of profile.nodes)
    for (const child of node.children ?? []) parents.set(child, node.id);
  const parts = new Map<string, number>();
  const functions = new Map<string, number>();
  const inclusive = new Map<string, number>();
  let busyUs = 0;

  for (const [id, us] of timeByNode(profile, skipMs)) {
    const node = nodes.get(id);
    if (node === undefined || node.callFrame.functionName === "(idle)") continue;
    busyUs += us;
    add(parts, partOf(node), us);
    add(functions, nameOf(node), us);
    // A recursive function stands several times on a stack and counts once.
    const seen = new Set<string>();
    for (let at: number | undefined = id; at !== undefined; at = parents.get(at)) {
      const above = nodes.get(at);
      if (above !== undefined && ourFile.test(above.callFrame.url)) seen.add(nameOf(above));
    }
    for (const name of seen) add(inclusive, name, us);
  }
  return {
    busyMs: busyUs / 1000,
    parts: shares(parts, busyUs),
    functions: shares(functions, busyUs),
    oursInclusive: shares(inclusive, busyUs),
  };
}

function timeByNode(profile: CpuProfile, skipMs: number): Map<number, number> {
  const times = new Map<number, number>();
  let elapsedUs = 0;
  for (const [index, id] of profile.samples.entries()) {
    const us = profile.timeDeltas[index] ?? 0;
    elapsedUs += us;
    if (elapsedUs >= skipMs * 1000) times.set(id, (times.get(id) ?? 0) + us);
  }
  return times;
}

function partOf({ callFrame: { url, functionName } }: ProfileNode): string {
  const ours = ourFile.exec(url)?.[1];
  if (ours !== undefined) return ours;
  const library = libraryFile.exec(url)?.[1];
  if (library !== undefined) return library;
  if (url.startsWith("node:")) return "node";
  return functionName.startsWith("(") ? functionName : "native";
}

function nameOf(node: ProfileNode): string {
  const { functionName, url, lineNumber } = node.callFrame;
  const ours = ourFile.exec(url);
  const file = ours === null ? partOf(node) : `${ours[1]}/${ours[2]}`;
  const line = ours === null ? "" : `:${lineNumber + 1}`;
  return `${functionName === "" ? "(anonymous)" : functionName}  ${file}${line}`;
}

function add(times: Map<string, number>, name: string, us: number): void {
  times.set(name, (times.get(name) ?? 0) + us);
}

function shares(times: ReadonlyMap<string, number>, busyUs: number): Share[] {
  return [...times]
    .map(([name, us]) => ({ name, share: us / busyUs }))
    .toSorted((a, b) => b.share - a.share);
}
