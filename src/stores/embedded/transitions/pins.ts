import { NO_PINS, type PinsRecord } from '../../../domain/upstream/pin.ts';
import type { SeenOffer, WritePinsAnswer, WritePinsRequest } from '../../../domain/ports/pin-store.ts';
import { recordOfPins } from '../../administrative-record.ts';
import type { Transaction } from '../transaction.ts';
import { appendAdministration } from './append-audit.ts';

export function readPins({ database }: Transaction): PinsRecord {
  const row = database.get<{ version: number; upstreams: string }>('SELECT version, upstreams FROM pins');
  if (row === undefined) return NO_PINS;
  return { version: row.version, upstreams: JSON.parse(row.upstreams) as PinsRecord['upstreams'] };
}

export function readNewerPins(transaction: Transaction, { after }: { after: number }): PinsRecord | undefined {
  return currentVersion(transaction) > after ? readPins(transaction) : undefined;
}

export function writePins(transaction: Transaction, request: WritePinsRequest): WritePinsAnswer {
  const { database } = transaction;
  const found = currentVersion(transaction);
  const version = request.expectedVersion + 1;
  const upstreams = JSON.stringify(request.upstreams);
  if (found !== request.expectedVersion) {
    // The same writer repeats its request after a lost answer.
    const same = database.get('SELECT 1 FROM pins WHERE version = ? AND upstreams = ?', version, upstreams);
    return same === undefined ? { kind: 'conflict', version: found } : { kind: 'written', version };
  }
  appendAdministration(transaction, recordOfPins(request));
  database.run('DELETE FROM pins');
  database.run('INSERT INTO pins VALUES (?, ?)', version, upstreams);
  return { kind: 'written', version };
}

export function readOffer({ database }: Transaction, { upstream }: { upstream: string }): SeenOffer | undefined {
  const row = database.get<{ seen: string }>('SELECT seen FROM offer WHERE upstream = ?', upstream);
  return row === undefined ? undefined : (JSON.parse(row.seen) as SeenOffer);
}

export function reportOffer(
  { database }: Transaction,
  { upstream, seen }: { upstream: string; seen: SeenOffer },
): void {
  database.run('INSERT OR REPLACE INTO offer VALUES (?, ?)', upstream, JSON.stringify(seen));
}

function currentVersion({ database }: Transaction): number {
  return database.get<{ version: number }>('SELECT version FROM pins')?.version ?? 0;
}
