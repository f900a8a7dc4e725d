import { afterEach, beforeEach, expect, it } from 'vitest';
import { keepsTrail } from '../../domain/ports/store.ts';
import { openDirectStore, type DirectStore } from '../../../test/embedded/direct-store.ts';
import { decodeFrame, encodeFrame } from './rpc.ts';
import { JOURNAL_METHODS } from './store-methods.ts';
import { StorePeer } from './store-peer.ts';

let direct: DirectStore;
beforeEach(() => void (direct = openDirectStore()));
afterEach(() => direct.remove());

it('the store keeps a trail, and has no journal to drain', () => {
  expect(keepsTrail(direct.store)).toBe(true);
  expect(JOURNAL_METHODS.filter((method) => method in direct.store)).toEqual([]);
});

it('a client of an earlier release that asks about journals is answered that there is nothing to drain', async () => {
  const answers = await new Promise<[number, number, unknown][]>((resolve) => {
    const received: [number, number, unknown][] = [];
    const receive = (frame: Uint8Array): void => {
      received.push(...(decodeFrame(frame) as [number, number, unknown][]));
      if (received.length >= JOURNAL_METHODS.length) resolve(received);
    };
    const peer = new StorePeer(direct.groupCommit, receive, () => Promise.resolve());
    peer.receive(encodeFrame(JOURNAL_METHODS.map((method, id) => [id, method, { lane: 0 }])));
  });
  const values = new Map(answers.map(([id, ok, value]) => [JOURNAL_METHODS[id], ok && value]));
  expect(values.get('claimAudit')).toEqual({ kind: 'held', by: 'the store itself' });
  expect(values.get('readJournal')).toMatchObject({ length: 0, elements: [] });
  expect(values.get('moveAudit')).toBe(false);
  expect([values.get('drainAudit'), values.get('alarmAudit')]).toEqual(['fenced', 'fenced']);
  expect(values.get('boundAudit')).toBeOneOf([null, undefined]);
});
