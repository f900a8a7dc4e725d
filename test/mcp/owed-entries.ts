import { DatabaseSync } from 'node:sqlite';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Store } from '../../src/domain/ports/store.ts';
import { eventually } from '../support/process.ts';
import type { DevPlane } from './dev-plane.ts';

export interface OwedEntry {
  readonly name: string;
  readonly attempt: string;
  readonly holder: string | null;
  readonly madeAt: number;
  readonly expiresAt: number;
}

/** Waits for the entry of a call to be like this. It is read in a copy that the owner of the store makes: nothing else may open its file. */
export function untilEntry(
  plane: DevPlane,
  callId: string,
  is: (entry: OwedEntry | undefined) => boolean,
): Promise<OwedEntry | 'gone'> {
  return eventually(
    async () => {
      const entry = await readEntry(plane, callId);
      return is(entry) ? (entry ?? 'gone') : undefined;
    },
    { what: `an entry of ${callId}` },
  );
}

/** Whether the entry is held by a request other than the one that made the call. */
export const isTaken = (entry: OwedEntry | undefined): boolean =>
  entry !== undefined && entry.attempt !== entry.name && entry.holder !== null;

async function readEntry({ folder, store }: DevPlane, callId: string): Promise<OwedEntry | undefined> {
  const copy = join(folder, 'entries.sqlite');
  await (store as Store & { copyTo(file: string): Promise<void> }).copyTo(copy);
  const database = new DatabaseSync(copy);
  const query = database.prepare('SELECT name, attempt, holder, madeAt, expiresAt FROM owed WHERE name = ?');
  const entry = query.get(callId.split('.')[2]!) as OwedEntry | undefined;
  database.close();
  rmSync(copy);
  return entry;
}
