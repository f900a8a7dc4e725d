import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { CallAnswer } from '../../src/exports/client.ts';
import { outcomeOf, stagePlane, untilEffects, type StagedPlane } from './support/stage-plane.ts';

const CALLS = 300;

describe('redis-server killed under load', () => {
  let plane: StagedPlane;
  beforeEach(async () => {
    plane = await stagePlane('redis', 'always');
  });
  afterEach(() => plane.stop());

  it('loses nothing and runs nothing twice', async () => {
    await plane.startWorker();
    await plane.startWorker();
    const sessions = await Promise.all(['ann', 'ben', 'cat', 'dan'].map((subject) => plane.openSession(subject)));
    const calls = Array.from({ length: CALLS }, async (_, index) => {
      const session = sessions[index % sessions.length]!;
      const args = { file: plane.effectFile, line: `call-${index}` };
      const answer: CallAnswer = await plane.client.call(session, 'basic.write', args, {
        key: `call-${index}`,
        waitMs: 60_000,
        deadlineMs: 120_000,
      });
      return { index, outcome: await outcomeOf(plane, session, answer) };
    });
    for (const share of [0.2, 0.5]) {
      await untilEffects(plane, Math.floor(CALLS * share));
      await plane.redis!.kill('SIGKILL');
      await plane.redis!.restart();
    }
    const ended = await Promise.all(calls);
    const starts = new Map<string, number>();
    for (const line of plane.effects()) {
      const name = line.split(' ')[1]!;
      starts.set(name, (starts.get(name) ?? 0) + 1);
    }
    for (const { index, outcome } of ended) {
      expect(['ok', 'indeterminate']).toContain(outcome.kind);
      const count = starts.get(`call-${index}`) ?? 0;
      expect(count).toBeLessThanOrEqual(1);
      expect(count).toBeGreaterThanOrEqual(outcome.kind === 'ok' ? 1 : 0);
    }
    const audit = await plane.store.readAudit({ lane: 0, fromSequence: 1, limit: 10_000 });
    expect(audit.map(({ sequence }) => sequence)).toEqual(audit.map((_, index) => index + 1));
    const settled = audit.filter(({ event }) => event === 'call.settled').map(({ callId }) => callId);
    expect(new Set(settled).size).toBe(settled.length);
    expect(settled).toHaveLength(CALLS);
    expect(await plane.store.listCalls({ limit: 10 })).toEqual([]);
  });
});
