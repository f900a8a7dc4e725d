import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { sha256 } from '../../base/sha256.ts';
import { replaceFile } from './replace-file.ts';

const rewiredFile = z.object({
  /** The file of the client, as it was found. */
  path: z.string().min(1),
  backup: z.string().min(1),
  /** SHA-256 of the file before and after. */
  before: z.string().length(64),
  after: z.string().length(64),
  /** The mode that the file had. */
  mode: z.int().min(0).max(0o7777),
  at: z.string(),
  names: z.array(z.string()),
});
const schema = z.object({ version: z.literal(1), files: z.array(rewiredFile).max(10_000) });

/** What was rewired, with everything that is needed to undo it. */
export type RewiredFile = z.infer<typeof rewiredFile>;

export type ReadRewired =
  /** `digest`: SHA-256 of the record; `absent` if there is none yet. */
  | { readonly kind: 'read'; readonly files: readonly RewiredFile[]; readonly digest: string }
  | { readonly kind: 'problem'; readonly problem: string };

const NAME = 'rewired.json';

/** Reads the record in the data folder. The oldest file is the first. */
export function readRewired(folder: string): ReadRewired {
  const path = join(folder, NAME);
  if (!existsSync(path)) return { kind: 'read', files: [], digest: 'absent' };
  const bytes = readFileSync(path);
  try {
    const { files } = schema.parse(JSON.parse(bytes.toString('utf8')));
    return { kind: 'read', files, digest: sha256(bytes) };
  } catch {
    return { kind: 'problem', problem: `${path} is damaged` };
  }
}

/** Writes the record. Throws if another process changed it since it was read. */
export function writeRewired(folder: string, files: readonly RewiredFile[], digest: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const bytes = Buffer.from(`${JSON.stringify({ version: 1, files }, null, 2)}\n`);
  const path = join(folder, NAME);
  if (replaceFile({ path, bytes, mode: 0o600, expected: digest }).kind === 'changed') {
    throw new Error(`${path} was changed by another process`);
  }
}
