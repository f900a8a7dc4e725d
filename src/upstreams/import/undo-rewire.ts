import { sha256 } from '../../base/sha256.ts';
import { hideSettings } from './hide-settings.ts';
import { readClientText } from './read-client-text.ts';
import { digestOf, FILE_MOVES, replaceFile, targetOf, type FileMoves } from './replace-file.ts';
import { forget, writeBackup } from './rewire.ts';
import { readRewired, type RewiredFile } from './rewired-record.ts';
import { unifiedDiff } from './unified-diff.ts';

export type UndoneFile = { readonly path: string } & (
  | {
      readonly kind: 'restored';
      /** A copy of what the file was before it was restored by force. */
      readonly kept?: string;
    }
  /** The file already is what it was before: restored by hand, or never written. */
  | { readonly kind: 'already' }
  /** The file was changed since it was rewired. The diff leads from now to what would be restored. */
  | { readonly kind: 'changed'; readonly diff: string }
  | { readonly kind: 'problem'; readonly problem: string }
);

export type UndoRewire =
  | { readonly kind: 'undone'; readonly files: readonly UndoneFile[] }
  | { readonly kind: 'problem'; readonly problem: string };

export interface UndoRequest {
  readonly dataFolder: string;
  /** Only this file. Undefined: every file in the record. */
  readonly path?: string | undefined;
  readonly force: boolean;
}

/** Restores the files of clients as they were. Of a file that was rewired several times, only the last step is undone. */
export function undoRewire(request: UndoRequest, moves: FileMoves = FILE_MOVES): UndoRewire {
  const record = readRewired(request.dataFolder);
  if (record.kind === 'problem') return record;
  const last = new Map(record.files.map((file) => [file.path, file]));
  const chosen = [...last.values()].filter(({ path }) => request.path === undefined || path === request.path);
  return { kind: 'undone', files: chosen.map((file) => ({ path: file.path, ...undoOne(file, request, moves) })) };
}

type Undone = UndoneFile extends infer Each ? (Each extends UndoneFile ? Omit<Each, 'path'> : never) : never;

function undoOne(file: RewiredFile, { dataFolder, force }: UndoRequest, moves: FileMoves): Undone {
  const backup = readClientText(file.backup);
  if (backup.kind === 'problem') return { kind: 'problem', problem: `${file.backup}: ${backup.problem}` };
  if (sha256(backup.bytes) !== file.before) return { kind: 'problem', problem: `${file.backup} was changed` };
  const now = digestOf(targetOf(file.path));
  if (now === file.before) {
    forget(dataFolder, file);
    return { kind: 'already' };
  }
  if (now !== file.after && !force) return { kind: 'changed', diff: diffToRestored(file.path, backup.text) };
  const kept = now === file.after ? undefined : keepCurrent(file.path);
  const { path, mode } = file;
  const replaced = replaceFile({ path, bytes: backup.bytes, mode, expected: now }, moves);
  if (replaced.kind === 'changed') return { kind: 'problem', problem: 'another program changed it meanwhile' };
  forget(dataFolder, file);
  return kept === undefined ? { kind: 'restored' } : { kind: 'restored', kept };
}

function keepCurrent(path: string): string | undefined {
  const read = readClientText(path);
  return read.kind === 'read' ? writeBackup(path, read.bytes) : undefined;
}

function diffToRestored(path: string, restored: string): string {
  const read = readClientText(path);
  const current = read.kind === 'read' ? read.text : '';
  const [before, after] = hideSettings([current, restored]);
  return unifiedDiff(before!, after!, { from: `${path} now`, to: `${path} after the undo` });
}
