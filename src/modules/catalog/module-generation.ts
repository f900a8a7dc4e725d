import { createHash } from 'node:crypto';
import { readdir, readFile, stat } from 'node:fs/promises';
import { dirname, extname, join } from 'node:path';
import type { ModuleSources } from './module-sources.ts';

const CODE: readonly string[] = ['.js', '.mjs', '.cjs', '.json', '.node', '.wasm'];
const MAX_FILES = 2_000;
/**
 * Max bytes of code that are read. For files beyond this limit, the digest covers the size and the time of change instead of the content.
 */
const MAX_CONTENT_BYTES = 32 * 1024 * 1024;

/**
 * Returns a function that names the code of a module file by a digest over the file and the other code in its folder. A reload of unchanged
 * code keeps the name. The digest does not cover other modules in the folder (`entries`), `node_modules`, hidden names and the manifest, so
 * a changed setup in the manifest does not change every module's generation. Of a folder with more than 2,000 code files, only the first
 * 2,000 count. The returned function rejects if the file cannot be read.
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
  /** The code that the digest covers, without files beyond the size limit. */
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
