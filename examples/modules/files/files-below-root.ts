import { randomUUID } from 'node:crypto';
import { constants, type Dirent, type Stats } from 'node:fs';
import { lstat, open, opendir, rename, rm, type FileHandle } from 'node:fs/promises';
import { denied, ToolFailure } from 'sallyport/tool';
import { withFolder } from './open-folder.ts';

export type EntryKind = 'file' | 'folder' | 'link' | 'other';

// O_NONBLOCK: opening a FIFO without a writer would block forever.
const TO_READ = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK | constants.O_NOCTTY;
const TO_CREATE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;

export async function readRegularFile(
  root: string,
  names: readonly string[],
  maxBytes: number,
): Promise<{ bytes: Buffer; modifiedAt: string }> {
  return inParent(root, names, { create: false }, async (path) => {
    const handle = await open(path, TO_READ);
    try {
      // The open file is checked, so that the file that was checked is the file that is read.
      const facts = await handle.stat();
      if (!facts.isFile()) throw notRegular();
      const bytes = await readAtMost(handle, maxBytes);
      return { bytes, modifiedAt: facts.mtime.toISOString() };
    } finally {
      await handle.close();
    }
  });
}

/**
 * Writes a new file in the same folder and renames it: readers see the old or the new content, and a link at that path is never written
 * through.
 */
export async function writeRegularFile(
  root: string,
  names: readonly string[],
  content: Uint8Array,
  maxBytes: number,
  signal: AbortSignal,
): Promise<void> {
  if (content.byteLength > maxBytes) throw tooLarge(maxBytes);
  await inParent(root, names, { create: true }, async (path, folder) => {
    const before = await lstat(path).catch(() => undefined);
    if (before?.isSymbolicLink()) refuseLink();
    if (before !== undefined && !before.isFile()) throw notRegular();
    const draft = `${folder}/.draft-${randomUUID()}`;
    try {
      await writeNew(draft, content, before === undefined ? 0o644 : before.mode & 0o777);
      signal.throwIfAborted();
      await rename(draft, path);
    } catch (error) {
      await rm(draft, { force: true });
      throw error;
    }
  });
}

export async function listFolder(
  root: string,
  names: readonly string[],
  limit: number,
): Promise<{ entries: { name: string; kind: EntryKind }[]; more: boolean }> {
  return explained(() =>
    withFolder(root, names, { create: false }, async (folder) => {
      const entries: { name: string; kind: EntryKind }[] = [];
      // Entries are read one by one, because a folder may have millions of them.
      for await (const entry of await opendir(folder)) {
        if (entries.length === limit) return { entries: entries.toSorted(byName), more: true };
        entries.push({ name: entry.name, kind: kindOf(entry) });
      }
      return { entries: entries.toSorted(byName), more: false };
    }),
  );
}

export async function statEntry(
  root: string,
  names: readonly string[],
): Promise<{ kind: EntryKind; bytes: number; modifiedAt: string }> {
  const toFacts = (facts: Stats) => ({ kind: kindOf(facts), bytes: facts.size, modifiedAt: facts.mtime.toISOString() });
  if (names.length === 0) {
    return withFolder(root, names, { create: false }, async (folder) => toFacts(await lstat(`${folder}/.`)));
  }
  return inParent(root, names, { create: false }, async (path) => toFacts(await lstat(path)));
}

async function inParent<Result>(
  root: string,
  names: readonly string[],
  options: { readonly create: boolean },
  work: (path: string, folder: string) => Promise<Result>,
): Promise<Result> {
  const name = names.at(-1);
  if (name === undefined) throw notRegular();
  return explained(() => withFolder(root, names.slice(0, -1), options, (folder) => work(`${folder}/${name}`, folder)));
}

/** Reads at most one byte more than allowed. The size that a file reports may be wrong (/proc) or change in the meantime. */
async function readAtMost(handle: FileHandle, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let total = 0;
  for (;;) {
    const chunk = Buffer.alloc(Math.min(64 * 1024, maxBytes + 1 - total));
    const { bytesRead } = await handle.read(chunk, 0, chunk.byteLength, null);
    if (bytesRead === 0) return Buffer.concat(chunks);
    total += bytesRead;
    if (total > maxBytes) throw tooLarge(maxBytes);
    chunks.push(chunk.subarray(0, bytesRead));
  }
}

async function writeNew(path: string, content: Uint8Array, mode: number): Promise<void> {
  const handle = await open(path, TO_CREATE, mode);
  try {
    await handle.writeFile(content);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

function kindOf(entry: Dirent | Stats): EntryKind {
  if (entry.isFile()) return 'file';
  if (entry.isDirectory()) return 'folder';
  return entry.isSymbolicLink() ? 'link' : 'other';
}

function byName(a: { readonly name: string }, b: { readonly name: string }): number {
  return a.name < b.name ? -1 : 1;
}

/** Translates error codes of the system into messages. Paths of the machine are not in the message. */
async function explained<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === 'ELOOP') refuseLink();
    const words = code === undefined ? undefined : MEANINGS[code];
    if (words === undefined) throw error;
    throw new ToolFailure(words.message, { code: words.code, cause: error });
  }
}

const MEANINGS: Readonly<Record<string, { readonly message: string; readonly code: string } | undefined>> = {
  ENOENT: { message: 'There is nothing at this path.', code: 'NOT_FOUND' },
  ENOTDIR: { message: 'A part of the path is not a folder; links are not followed.', code: 'NOT_A_FOLDER' },
  EISDIR: { message: 'This is a folder.', code: 'NOT_A_FILE' },
  EACCES: { message: 'The file system does not let this module in there.', code: 'NO_ACCESS' },
  ENXIO: { message: 'This is not a regular file.', code: 'NOT_A_FILE' },
};

function refuseLink(): never {
  denied('This is a link; links are not followed.', { code: 'LINK_REFUSED' });
}

function notRegular(): ToolFailure {
  return new ToolFailure('This is not a regular file.', { code: 'NOT_A_FILE' });
}

function tooLarge(maxBytes: number): ToolFailure {
  return new ToolFailure(`The file has more than ${maxBytes} bytes, the limit here.`, { code: 'FILE_TOO_LARGE' });
}
