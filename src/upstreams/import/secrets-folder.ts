import { chmodSync, lstatSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { readPrivateFile } from '../../base/read-private-file.ts';
import type { ExistingSecret } from './name-secrets.ts';
import type { MovedSecret } from './upstream-entry.ts';
import { writeDraft } from './replace-file.ts';

/** Reads the secrets that a folder already holds, so that none is overwritten. */
export function existingSecretsIn(folder: string): ExistingSecret {
  return (name) => {
    const read = readPrivateFile(join(folder, name));
    if (read.kind === 'read') return { value: read.text.replace(/\r?\n$/, '') };
    return read.absent ? undefined : 'unreadable';
  };
}

export type WriteSecrets =
  | { readonly kind: 'written'; readonly names: readonly string[] }
  | { readonly kind: 'problem'; readonly problem: string; readonly fix?: string };

/** Writes each secret to a file of its own that only this user can read. A file that exists is not written again. */
export function writeSecrets(folder: string, secrets: readonly MovedSecret[]): WriteSecrets {
  const values = new Map(secrets.flatMap(({ name, value }) => (value === undefined ? [] : [[name, value] as const])));
  if (values.size === 0) return { kind: 'written', names: [] };
  const problem = prepareFolder(folder);
  if (problem !== undefined) return problem;
  const existing = existingSecretsIn(folder);
  const names: string[] = [];
  for (const [name, value] of values) {
    const held = existing(name);
    if (held !== undefined && held !== 'unreadable' && held.value === value) continue;
    // The line break is not part of the secret: without it, one at the end of the value would be lost.
    writeDraft(join(folder, name), Buffer.from(`${value}\n`), 0o600);
    names.push(name);
  }
  return { kind: 'written', names };
}

function prepareFolder(folder: string): Extract<WriteSecrets, { kind: 'problem' }> | undefined {
  const facts = lstatSync(folder, { throwIfNoEntry: false });
  if (facts === undefined) {
    mkdirSync(folder, { mode: 0o700 });
    // The umask of the process may have taken rights away from the user too.
    chmodSync(folder, 0o700);
    return undefined;
  }
  if (!facts.isDirectory()) return { kind: 'problem', problem: `${folder} is not a folder` };
  if (process.platform === 'win32') return undefined;
  if (facts.uid !== process.getuid?.()) return { kind: 'problem', problem: `${folder} belongs to another user` };
  if ((facts.mode & 0o077) === 0) return undefined;
  return { kind: 'problem', problem: `${folder} is open to other users`, fix: `Close it: chmod 700 ${folder}` };
}
