import { createHash } from 'node:crypto';
import { readdir, readFile, stat } from 'node:fs/promises';
import { dirname, extname, join } from 'node:path';
import type { ModuleSources } from './module-sources.ts';

const CODE: readonly string[] = ['.js', '.mjs', '.cjs', '.json', '.node', '.wasm'];
const MAX_FILES = 2_000;
/** Max bytes of code that are read. Beyond this, size and time of change stand for the content. */
const MAX_CONTENT_BYTES = 32 * 1024 * 1024;

/**
 * Names the code of each module file: a digest over the file and the other code in its folder, so that a reload of unchanged code keeps its
 * generation. The digest does not cover the other modules there (`entries`), `node_modules`, hidden names and the manifest: a change of one
 * setup in the manifest is not a change of every module's code. In a folder with more than 2,000 code files, the first 2,000 count. The
 * returned function rejects for a file that cannot be read.
 */
export function createGenerations(
  entries: ReadonlySet<string>,
  manifest?: string,
): (file: string) => Promise<Generation> {
  const folders = new Map<string, Promise<FolderCode>>();
  return async (file) => {
    const folder = dirname(file);
    const reading = folders.get(folder) ?? readFolder(folder, { entries, manifest });
    folders.set(folder, reading);
    const own = await readFile(file);
    const shared = await reading;
    const hash = createHash('sha256').update(own).update(shared.digest);
    return { name: hash.digest('base64url').slice(0, 22), sources: { file, own, shared: shared.sources } };
  };
}

export interface Generation {
  readonly name: string;
  /** The code that the generation names, without files beyond the size limit. */
  readonly sources: ModuleSources;
}

interface FolderCode {
  readonly digest: string;
  readonly sources: ModuleSources['shared'];
}

interface Elsewhere {
  readonly entries: ReadonlySet<string>;
  readonly manifest: string | undefined;
}

async function readFolder(folder: string, elsewhere: Elsewhere): Promise<FolderCode> {
  const hash = createHash('sha256');
  const sources = new Map<string, Uint8Array>();
  let bytesLeft = MAX_CONTENT_BYTES;
  for (const path of await codeBelow(folder, elsewhere)) {
    const facts = await stat(path).catch(() => undefined);
    if (facts?.isFile() !== true) continue;
    hash.update(`\0${path.slice(folder.length)}\0`);
    bytesLeft -= facts.size;
    const code = bytesLeft >= 0 ? await readFile(path).catch(() => Buffer.alloc(0)) : undefined;
    hash.update(code ?? `${facts.size} ${facts.mtimeMs}`);
    if (code !== undefined) sources.set(path, code);
  }
  return { digest: hash.digest('hex'), sources };
}

async function codeBelow(folder: string, { entries, manifest }: Elsewhere): Promise<string[]> {
  const files: string[] = [];
  const waiting = [folder];
  for (let next = waiting.shift(); next !== undefined && files.length < MAX_FILES; next = waiting.shift()) {
    const parent = next;
    const members = await readdir(parent, { withFileTypes: true }).catch(() => []);
    // This is the folder of another module; its code belongs to that module only.
    if (parent !== folder && members.some((member) => entries.has(join(parent, member.name)))) continue;
    for (const member of members.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
      const path = join(parent, member.name);
      if (member.name.startsWith('.') || member.name === 'node_modules') continue;
      if (entries.has(path) || path === manifest) continue;
      if (member.isDirectory()) waiting.push(path);
      else if (CODE.includes(extname(member.name)) && files.length < MAX_FILES) files.push(path);
    }
  }
  return files;
}
