import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { BACKENDS, outcomeOf, stagePlane, type StagedPlane } from './support/stage-plane.ts';

/** Where a worker dies, and what may have run by then: `starts` counts entries of the tool's code over all workers. */
const POINTS = [
  { crash: 'after claimCalls', tool: 'basic.write', kind: 'ok', starts: 1 },
  { crash: 'after claimCalls', tool: 'basic.writeAgain', kind: 'ok', starts: 1 },
  { crash: 'before startCall', tool: 'basic.write', kind: 'ok', starts: 1 },
  { crash: 'after startCall', tool: 'basic.write', kind: 'indeterminate', starts: 0 },
  { crash: 'before settleCall', tool: 'basic.write', kind: 'indeterminate', starts: 1 },
  { crash: 'before settleCall', tool: 'basic.writeAgain', kind: 'ok', starts: 2 },
  { crash: 'after settleCall', tool: 'basic.write', kind: 'ok', starts: 1 },
  { crash: 'after settleCall', tool: 'basic.writeAgain', kind: 'ok', starts: 1 },
] as const;

describe.each(BACKENDS)('a worker killed on %s', (backend) => {
  let plane: StagedPlane;
  beforeEach(async () => {
    plane = await stagePlane(backend);
  });
  afterEach(() => plane.stop());

  it.each(POINTS)('$crash with $tool: one answer, $kind, $starts starts', async ({ crash, tool, kind, starts }) => {
    const session = await plane.openSession();
    const dying = await plane.startWorker({}, crash);
    const args = { file: plane.effectFile, line: 'x' };
    const calling = plane.client.call(session, tool, args, { waitMs: 1000, deadlineMs: 60_000 });
    expect((await dying.process.exited).signal).toBe('SIGKILL');
    await plane.startWorker();
    const outcome = await outcomeOf(plane, session, await calling);
    expect(outcome.kind).toBe(kind);
    expect(outcome.executed).toBe(kind === 'ok' ? 'yes' : 'unknown');
    expect(plane.effects().filter((line) => line.startsWith('S'))).toHaveLength(starts);
    const audit = await plane.store.readAudit({ lane: 0, fromSequence: 1, limit: 100 });
    expect(audit.filter((entry) => entry.event === 'call.settled')).toHaveLength(1);
  });
});
