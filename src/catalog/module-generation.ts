import { createHash } from 'node:crypto';
import { readdir, readFile, stat } from 'node:fs/promises';
import { dirname, extname, join } from 'node:path';

const CODE: readonly string[] = ['.js', '.mjs', '.cjs', '.json', '.node', '.wasm'];
const MAX_FILES = 2_000;
/** Beyond this, size and time of change stand for the content. */
const MAX_CONTENT_BYTES = 32 * 1024 * 1024;

/**
 * Names the code of each module file: a digest over the file and the other code in its folder, so that a reload of unchanged
 * code keeps its generation. Not counted are the other modules there (`entries`), `node_modules` and hidden names. Bounded: of
 * a folder with more than 2,000 code files the first 2,000 count. The result rejects for a file that cannot be read.
 */
export function createGenerations(entries: ReadonlySet<string>): (file: string) => Promise<string> {
  const folders = new Map<string, Promise<string>>();
  return async (file) => {
    const folder = dirname(file);
    const shared = folders.get(folder) ?? folderDigest(folder, entries);
    folders.set(folder, shared);
    const hash = createHash('sha256').update(await readFile(file));
    return hash
      .update(await shared)
      .digest('base64url')
      .slice(0, 22);
  };
}

async function folderDigest(folder: string, entries: ReadonlySet<string>): Promise<string> {
  const hash = createHash('sha256');
  let bytesLeft = MAX_CONTENT_BYTES;
  for (const path of await codeBelow(folder, entries)) {
    const facts = await stat(path).catch(() => undefined);
    if (facts?.isFile() !== true) continue;
    hash.update(`\0${path.slice(folder.length)}\0`);
    bytesLeft -= facts.size;
    hash.update(bytesLeft >= 0 ? await readFile(path).catch(() => '') : `${facts.size} ${facts.mtimeMs}`);
  }
  return hash.digest('hex');
}

async function codeBelow(folder: string, entries: ReadonlySet<string>): Promise<string[]> {
  const files: string[] = [];
  const waiting = [folder];
  for (let next = waiting.shift(); next !== undefined && files.length < MAX_FILES; next = waiting.shift()) {
    const parent = next;
    const members = await readdir(parent, { withFileTypes: true }).catch(() => []);
    // The folder of another module: its code is its own affair.
    if (parent !== folder && members.some((member) => entries.has(join(parent, member.name)))) continue;
    for (const member of members.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
      const path = join(parent, member.name);
      if (member.name.startsWith('.') || member.name === 'node_modules' || entries.has(path)) continue;
      if (member.isDirectory()) waiting.push(path);
      else if (CODE.includes(extname(member.name)) && files.length < MAX_FILES) files.push(path);
    }
  }
  return files;
}
