/**
 * Where the store may live: a local directory of this machine that only its owner can read.
 *
 * Called once by `openLmdbStore`. Every refusal is STORE_UNUSABLE and says what to do. Network file systems are refused
 * because their locks and shared memory maps don't hold between machines: two writers would corrupt the data silently.
 */
import {
  accessSync,
  constants,
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  statfsSync,
  statSync,
} from "node:fs";
import { dirname, resolve } from "node:path";
import { isRepriseError, RepriseError } from "@reprise/errors";
import type { FileSystemProbe } from "./ports.ts";

/** Numbers of statfs(2) of file systems whose data is on another machine, or whose shared maps are not coherent. */
const networkFileSystems: ReadonlyMap<number, string> = new Map([
  [0x6969, "NFS"],
  [0x517b, "SMB"],
  [0xfe534d42, "SMB2"],
  [0xff534d42, "CIFS"],
  [0x00c36400, "Ceph"],
  [0x01021997, "9p"],
  [0x5346414f, "AFS"],
  [0x6b414653, "AFS"],
  [0x47504653, "GPFS"],
  [0x0bd00bd0, "Lustre"],
  [0x7461636f, "OCFS2"],
  [0x01161970, "GFS2"],
  [0x73757245, "Coda"],
  [0x564c, "NCP"],
  [0x786f4256, "VirtualBox shared folder"],
]);
const FUSE = 0x65735546;
const networkMount =
  /^(fuse\.)?(sshfs|s3fs|gcsfuse|goofys|rclone|glusterfs|cephfs?|ceph-fuse|blobfuse2?|davfs2?|curlftpfs|smbnetfs|juicefs|seaweedfs|virtiofs|grpcfuse)$/;

/** The machine's file systems. */
export const systemFileSystem: FileSystemProbe = {
  checkAccess: (directory) => {
    accessSync(directory, constants.R_OK | constants.W_OK | constants.X_OK);
  },
  kindOf: (directory) => ({ magic: statfsSync(directory).type, mountType: mountTypeOf(directory) }),
  freeBytes: (directory) => {
    const { bavail, bsize } = statfsSync(directory);
    return bavail * bsize;
  },
};

/** Makes the directory when it is missing (mode 0700) and refuses one that can't hold the store. Returns its real path. */
export function prepareDirectory(directory: string, probe: FileSystemProbe): string {
  const path = resolve(directory);
  try {
    makeDirectories(path);
    if (!statSync(path).isDirectory())
      throw unusable(path, "it is not a directory; choose another path");
    probe.checkAccess(path);
  } catch (cause) {
    if (isRepriseError(cause)) throw cause;
    throw unusable(path, reasonOf(cause), cause);
  }
  const { magic, mountType } = probe.kindOf(path);
  const network = networkNameOf(magic, mountType);
  if (network !== undefined) {
    throw unusable(
      path,
      `it is on a network or shared file system (${network}); choose a directory on a local disk`,
    );
  }
  return realpathSync(path);
}

/**
 * Makes a directory and those above it. Not by Node's `recursive`: where a new name is answered with ENOENT although the parent is
 * there, as under /proc, that tries for ever and holds the thread.
 */
function makeDirectories(path: string): void {
  const missing: string[] = [];
  for (let each = path; !existsSync(each); each = dirname(each)) missing.unshift(each);
  for (const each of missing) {
    try {
      mkdirSync(each, { mode: 0o700 });
    } catch (cause) {
      // Another process may have been faster.
      if (!existsSync(each)) throw cause;
    }
  }
}

/** Why a file system call failed, with what to do. */
export function reasonOf(cause: unknown): string {
  const code =
    typeof cause === "object" && cause !== null && "code" in cause ? cause.code : undefined;
  switch (code) {
    case "EEXIST":
    case "ENOTDIR":
      return "it is not a directory; choose another path";
    case "EACCES":
    case "EPERM":
      return "this user may not read and write it; give it to this user (chown, chmod u+rwx) or choose another path";
    case "ENOENT":
      return "no directory can be made there; choose another path";
    case "EROFS":
      return "its file system is read-only; mount it for writing or choose another path";
    case "ENOSPC":
    case "EDQUOT":
      return "its file system is full; free some space";
    default:
      return "the system refused it (see cause); choose another path";
  }
}

/** The refusal of a directory. */
export function unusable(path: string, reason: string, cause?: unknown): RepriseError {
  const message = `the store's directory ${path} can't be used: ${reason}`;
  return new RepriseError("STORE_UNUSABLE", message, cause === undefined ? {} : { cause });
}

function networkNameOf(magic: number, mountType: string | undefined): string | undefined {
  // Some platforms give the number with its sign.
  const kind = magic >>> 0;
  const name = networkFileSystems.get(kind);
  if (name !== undefined) return name;
  if (kind === FUSE && mountType !== undefined && networkMount.test(mountType)) return mountType;
  return undefined;
}

/** The type of the mount that holds `directory`, as /proc tells it. */
function mountTypeOf(directory: string): string | undefined {
  let table: string;
  try {
    table = readFileSync("/proc/self/mountinfo", "utf8");
  } catch {
    return undefined;
  }
  const real = realpathSync(directory);
  let best: { readonly point: string; readonly type: string | undefined } | undefined;
  for (const line of table.split("\n")) {
    const [before, after] = line.split(" - ");
    // Octal escapes stand for spaces in mount points.
    const point = before?.split(" ")[4]?.replace(/\\040/g, " ");
    if (point === undefined || after === undefined) continue;
    const holds = real === point || real.startsWith(point.endsWith("/") ? point : `${point}/`);
    // Of two mounts on one point the later one is seen.
    if (holds && point.length >= (best?.point.length ?? 0))
      best = { point, type: after.split(" ")[0] };
  }
  return best?.type;
}
