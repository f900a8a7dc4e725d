import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openSqliteSink } from '../../src/stores/sqlite/audit/sqlite-sink.ts';
import { listCalls } from '../../src/gateway/api/list-calls.ts';
import type { CallListQuery, CallRow } from '../../src/gateway/api/call-schema.ts';
import { SettledHistory } from '../../src/gateway/follow/settled-history.ts';
import type { AuditEntry, AuditSink } from '../../src/domain/ports/audit-store.ts';
import type { Store } from '../../src/domain/ports/store.ts';
import { chainEntry } from '../../src/domain/audit/record-bytes.ts';
import { encode } from '../../src/base/message-pack.ts';
import { sampleEntry } from '../audit/trails.ts';
import { temporaryFolder, type TemporaryFolder } from '../support/process.ts';

const STORE = 'store-1';

let folder: TemporaryFolder;
let sink: AuditSink;
beforeEach(async () => {
  folder = temporaryFolder('sallyport-settled');
  sink = await openSqliteSink(join(folder.path, 'audit.sqlite'));
});
afterEach(async () => {
  await sink.close();
  folder.remove();
});

/** Appends to one lane as a drainer does. */
async function append(lane: number, entries: readonly Partial<AuditEntry>[]): Promise<void> {
  const { fence: _, ...head } = await sink.openLane({ store: STORE, lane });
  let { chain } = head;
  const records = entries.map((more, index) => {
    const sequence = head.sequence + 1 + index;
    const callId = `${lane}.abcdefghijkl.${String(sequence).padStart(22, '0')}`;
    const chained = chainEntry(sampleEntry(sequence, { lane, callId, ...more } as Partial<AuditEntry>), STORE, chain);
    ({ chain } = chained);
    return chained;
  });
  expect(await sink.commit({ store: STORE, lane, fence: 1, previous: head, records })).toBe('committed');
}

const ending = (at: number, facts: object = {}): Partial<AuditEntry> => ({
  at,
  detail: encode({ outcome: 'ok', executed: 'yes', durationMs: 5, ...facts }),
});
/** Nothing is under way. */
const quiet = { listCalls: async () => [] } as unknown as Store;

async function readAll(history: SettledHistory, query: CallListQuery, limit: number): Promise<CallRow[]> {
  const rows: CallRow[] = [];
  let cursor: string | undefined;
  do {
    const page = await listCalls(
      { history, plane: { store: quiet, trail: sink } },
      { ...query, limit, ...(cursor === undefined ? {} : { cursor }) },
    );
    expect(page.items.length).toBeLessThanOrEqual(limit);
    rows.push(...page.items);
    cursor = page.next;
  } while (cursor !== undefined);
  return rows;
}

describe('the list of settled calls', () => {
  it('has every call once, newest first, where memory ends and the trail goes on, for any page size', async () => {
    // Three lanes with the same milliseconds, so that pages end in the middle of one.
    for (const lane of [2, 0, 1])
      await append(
        lane,
        Array.from({ length: 40 }, (_, index) => ending(1000 + Math.floor(index / 8))),
      );
    for (const kept of [1000, 50, 10, 1]) {
      const history = new SettledHistory(sink, { calls: kept });
      await history.catchUp();
      for (const limit of [1, 3, 7, 50, 500]) {
        const rows = await readAll(history, {}, limit);
        expect({ kept, limit, rows: new Set(rows.map(({ callId }) => callId)).size, all: rows.length }).toEqual({
          kept,
          limit,
          rows: 120,
          all: 120,
        });
        const times = rows.map(({ settledAt }) => settledAt!);
        expect(times).toEqual(times.toSorted((one, other) => other - one));
      }
    }
  });

  it('says the same from memory and from the trail, for every filter', async () => {
    await append(
      0,
      Array.from({ length: 200 }, (_, index) => ({
        ...ending(1000 + index, { outcome: index % 10 === 0 ? 'failed' : 'ok' }),
        tool: `files.t${index % 7}` as never,
        run: `run-${index % 4}` as never,
        identity: JSON.stringify({ agent: `a${index % 3}`, subject: `s${index % 11}`, tenant: 'acme' }),
        ...(index % 50 === 0 ? { event: 'call.cancelled' } : {}),
        ...(index % 30 === 1 ? { event: 'approval.requested', detail: encode({}) } : {}),
      })) as Partial<AuditEntry>[],
    );
    const [inMemory, fromTrail] = [new SettledHistory(sink), new SettledHistory(sink, { calls: 1 })];
    await Promise.all([inMemory.catchUp(), fromTrail.catchUp()]);
    for (const query of [
      {},
      { tool: 'files.t3' },
      { agent: 'a1' },
      { subject: 's4' },
      { outcome: 'failed' },
      { outcome: 'not-ok' },
      { outcome: 'errors' },
      { text: 'T3' },
      { text: '0.abcdefghijkl.000000000000000000001' },
      { run: 'run-1' },
      { from: 1050, to: 1100 },
      { tenant: 'other' },
      { agent: 'a1', outcome: 'ok', from: 1020 },
    ] as CallListQuery[]) {
      const [one, other] = [await readAll(inMemory, query, 6), await readAll(fromTrail, query, 6)];
      expect(one.map(({ callId }) => callId)).toEqual(other.map(({ callId }) => callId));
      expect(one.length > 0).toBe(query.tenant !== 'other');
    }
    expect((await readAll(inMemory, {}, 500)).length).toBe(193);
  });

  it('lists more than a thousand calls under way, each once, page by page', async () => {
    const store = {
      listCalls: async ({ limit }: { limit: number }) =>
        Array.from({ length: 1500 }, (_, index) => ({
          callId: `0.abcdefghijkl.${String(index).padStart(22, '0')}`,
          tool: 'files.read',
          identity: { agent: 'a', subject: 's', tenant: 't' },
          state: 'parked',
          acceptedAt: 1000 + index,
        })).slice(0, limit),
    } as unknown as Store;
    const found = new Set<string>();
    let cursor: string | undefined;
    do {
      const needs = { history: new SettledHistory(sink), plane: { store, trail: sink } };
      const page = await listCalls(needs, { state: 'parked', limit: 400, ...(cursor === undefined ? {} : { cursor }) });
      for (const { callId } of page.items) found.add(callId);
      cursor = page.next;
    } while (cursor !== undefined);
    expect(found.size).toBe(1500);
  });

  it('finds a call behind more records than one page looks at', async () => {
    const rare = { ...ending(1000), tool: 'files.rare' as never };
    await append(0, [rare, ...Array.from({ length: 25_000 }, (_, index) => ending(2000 + index))]);
    const history = new SettledHistory(sink, { calls: 1 });
    await history.catchUp();
    expect(await readAll(history, { tool: 'files.rare' }, 50)).toMatchObject([{ tool: 'files.rare', settledAt: 1000 }]);
  });

  it('is read from the trail until memory has been filled', async () => {
    await append(
      0,
      Array.from({ length: 20 }, (_, index) => ending(1000 + index)),
    );
    const history = new SettledHistory(sink);
    expect(history.isReady).toBe(false);
    expect(await readAll(history, {}, 500)).toHaveLength(20);
    await history.catchUp();
    await append(0, [ending(2000)]);
    expect((await readAll(history, {}, 500))[0]).toMatchObject({ settledAt: 2000 });
  });

  it('begins anew when more has happened than it can remember, and still shows all', async () => {
    await append(
      0,
      Array.from({ length: 10 }, (_, index) => ending(1000 + index)),
    );
    const history = new SettledHistory(sink, { calls: 20 });
    await history.catchUp();
    await append(
      0,
      Array.from({ length: 100 }, (_, index) => ending(2000 + index)),
    );
    await history.catchUp();
    expect(history.calls.size).toBeLessThanOrEqual(22);
    expect(history.statistics.show(2100, 60_000, 1).countedFrom).toBeGreaterThan(1000);
    expect(await readAll(history, {}, 7)).toHaveLength(110);
  });
});

describe('statistics of calls', () => {
  it('count what the trail has, by time, ending, tool and agent', async () => {
    const hour = 60 * 60_000;
    const now = 100 * hour;
    await append(0, [
      ending(now - 2 * hour, { durationMs: 1000 }),
      ending(now - 30_000, { durationMs: 3 }),
      ending(now - 20_000, { outcome: 'blocked', executed: 'no', detector: 'repeat' }),
      ending(now - 10_000, { outcome: 'failed', durationMs: 7 }),
    ]);
    const history = new SettledHistory(sink);
    await history.catchUp();
    const shown = history.statistics.show(now, hour, 60);
    expect(shown).toMatchObject({
      bucketMs: 60_000,
      totals: {
        calls: 3,
        byOutcome: { ok: 1, blocked: 1, failed: 1 },
        byTool: [{ name: 'files.write', calls: 3, notOk: 2 }],
        byAgent: [{ name: 'main' }],
      },
      loops: { warned: 0, blocked: 1 },
      countedFrom: 0,
    });
    expect(shown.buckets).toHaveLength(60);
    expect(shown.buckets.reduce((sum, { calls }) => sum + calls, 0)).toBe(3);
    expect(history.statistics.show(now, 24 * hour, 24)).toMatchObject({
      bucketMs: hour,
      totals: { calls: 4, p99: expect.closeTo(1000, -3) as number },
    });
    expect(history.loops(10)).toMatchObject([{ detector: 'repeat', kind: 'blocked', tool: 'files.write' }]);
    history.statistics.forget(now + 48 * hour);
    expect(history.statistics.show(now, 24 * hour, 24).totals.calls).toBe(0);
  });
});
