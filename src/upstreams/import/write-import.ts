import { sha256 } from '../../base/sha256.ts';
import { mergeOutput, type OutputRow } from './merge-output.ts';
import type { ImportCandidate } from './plan-import.ts';
import { FILE_MOVES, replaceFile, type FileMoves } from './replace-file.ts';
import { writeSecrets } from './secrets-folder.ts';

export type WriteImport =
  | {
      readonly kind: 'written';
      readonly rows: readonly OutputRow[];
      /** The names of the secrets whose files are new. */
      readonly secrets: readonly string[];
    }
  | { readonly kind: 'problem'; readonly problem: string; readonly fix?: string };

interface ImportRequest {
  readonly candidates: readonly ImportCandidate[];
  /** The YAML file. */
  readonly out: string;
  readonly secretsFolder: string;
}

/** Writes the upstreams and their secrets. The secrets come first: an upstream must not name a secret that could not be written. */
export function writeImport(request: ImportRequest, moves: FileMoves = FILE_MOVES): WriteImport {
  const { candidates, out, secretsFolder } = request;
  const merged = mergeOutput(out, candidates);
  if (merged.kind === 'problem') return merged;
  const added = merged.rows.filter(({ state }) => state === 'added');
  const secrets = writeSecrets(
    secretsFolder,
    merged.rows.flatMap(({ candidate }) => candidate.secrets),
  );
  if (secrets.kind === 'problem') return secrets;
  if (added.length > 0) {
    const expected = merged.before === undefined ? 'absent' : sha256(merged.before);
    const replaced = replaceFile({ path: out, bytes: Buffer.from(merged.text), mode: 0o600, expected }, moves);
    if (replaced.kind === 'changed') {
      return { kind: 'problem', problem: `${out} was changed meanwhile; it is not overwritten`, fix: 'Try again.' };
    }
  }
  return { kind: 'written', rows: merged.rows, secrets: secrets.names };
}
