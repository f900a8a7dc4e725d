import type { ImportCandidate, ReadFile } from './plan-import.ts';
import type { ReplacedEntries } from './rewire-text.ts';

/** The entries of one file that were imported. */
export interface FileEntries {
  readonly path: string;
  readonly digest: string;
  readonly replaced: readonly ReplacedEntries[];
}

/** Groups the entries of imported servers by their file, and in it by the group that they stand in. */
export function groupEntries(candidates: readonly ImportCandidate[], files: readonly ReadFile[]): FileEntries[] {
  const places = candidates.flatMap(({ entries }) => entries.map(({ place }) => place));
  return files.flatMap(({ file, digest }) => {
    const groups = new Map<string, { group: ReplacedEntries['group']; names: string[] }>();
    for (const { group, name } of places.filter((place) => place.file === file)) {
      const key = JSON.stringify(group.path);
      const entry = groups.get(key) ?? { group, names: [] };
      entry.names.push(name);
      groups.set(key, entry);
    }
    return groups.size === 0 || digest === undefined
      ? []
      : [{ path: file.path, digest, replaced: [...groups.values()] }];
  });
}

/** A secret whose old value still stands in a file of a client. */
export interface OldValue {
  readonly secret: string;
  readonly file: string;
  readonly line: number;
}

/** Finds where the old values of secrets stand. Places are as they were when the file was read. */
export function oldValuesOf(candidates: readonly ImportCandidate[]): OldValue[] {
  return candidates.flatMap(({ secrets, entries }) =>
    secrets
      .filter(({ value }) => value !== undefined)
      .flatMap(({ name, setting }) =>
        entries.map(({ place }) => ({
          secret: name,
          file: place.file.path,
          line: place.settingLines.get(setting) ?? place.line,
        })),
      ),
  );
}
