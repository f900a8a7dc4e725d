import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Outcome } from '../../src/exports/client.ts';
import { BACKENDS, outcomeOf, stagePlane, type StagedPlane } from './support/stage-plane.ts';

const EIGHT_MIB = 8 * 1024 * 1024;

function expectedDigest(bytes: number): string {
  const content = Buffer.alloc(bytes);
  for (let at = 0; at < bytes; at += 1) content[at] = at % 251;
  return createHash('sha256').update(content).digest('hex');
}

function summary(outcome: Outcome) {
  const file = outcome.writeBacks?.files[0];
  return {
    kind: outcome.kind,
    file:
      file === undefined
        ? undefined
        : { name: file.name, digest: createHash('sha256').update(file.bytes).digest('hex') },
    message: outcome.writeBacks?.messages[0],
    offered: outcome.writeBacks?.injectedTools[0]?.tool,
  };
}

describe.each(BACKENDS)('write-backs on %s', (backend) => {
  let plane: StagedPlane;
  beforeAll(async () => {
    plane = await stagePlane(backend);
    await plane.startWorker();
  });
  afterAll(() => plane.stop());

  it.each([1024, EIGHT_MIB])(
    'of %i bytes reach two waiters, a replay, and whoever asks after pending',
    async (bytes) => {
      const session = await plane.openSession();
      const expected = {
        kind: 'ok',
        file: { name: 'data.bin', digest: expectedDigest(bytes) },
        message: { format: 'card', body: { title: 'Hello', size: bytes } },
        offered: 'basic.echo',
      };
      const key = `hand-over-${bytes}`;
      const order = (waitMs: number) => plane.client.call(session, 'basic.handOver', { bytes }, { key, waitMs });
      const waiters = await Promise.all([order(20_000), order(20_000)]);
      for (const answer of waiters) expect(summary(await outcomeOf(plane, session, answer))).toEqual(expected);
      const replayed = await order(20_000);
      expect(summary(await outcomeOf(plane, session, replayed))).toEqual(expected);

      const slow = { bytes, ms: 500 };
      const late = await plane.client.call(session, 'basic.handOver', slow, { key: `${key}-late`, waitMs: 1 });
      expect(late.kind).toBe('pending');
      expect(summary(await outcomeOf(plane, session, late))).toEqual(expected);
    },
  );

  it('a result past the cap is refused with a clear code, and says that the tool ran', async () => {
    const session = await plane.openSession();
    const answer = await plane.client.call(session, 'basic.large', { characters: 2 * 1024 * 1024 }, { waitMs: 60_000 });
    const outcome = await outcomeOf(plane, session, answer);
    expect(outcome).toMatchObject({ kind: 'failed', executed: 'yes', error: { code: 'RESULT_TOO_LARGE' } });
    expect(outcome.error?.facts).toMatchObject({ limit: 1024 * 1024 });
  });

  it('arguments of exactly 1 MiB work, one byte more is refused and leaves no trace', async () => {
    const session = await plane.openSession();
    const overhead = Buffer.byteLength('{"text":""}');
    const fitting = 'x'.repeat(1024 * 1024 - overhead);
    const fits = await plane.client.call(session, 'basic.echo', { text: fitting }, { waitMs: 60_000 });
    expect((await outcomeOf(plane, session, fits)).kind).toBe('ok');
    const audited = (await plane.store.readAudit({ lane: 0, fromSequence: 1, limit: 1000 })).length;
    const refused = await plane.client.call(session, 'basic.echo', { text: `${fitting}x` });
    expect(refused).toMatchObject({
      kind: 'refused',
      outcome: { kind: 'invalid', error: { code: 'ARGUMENTS_TOO_LARGE' } },
    });
    expect((await plane.store.readAudit({ lane: 0, fromSequence: 1, limit: 1000 })).length).toBe(audited);
    expect(await plane.store.listCalls({ limit: 10 })).toEqual([]);
  });

  it('a result that cannot be sent ends failed, executed yes', async () => {
    const session = await plane.openSession();
    const answer = await plane.client.call(session, 'basic.odd', {});
    expect(await outcomeOf(plane, session, answer)).toMatchObject({
      kind: 'failed',
      executed: 'yes',
      error: { code: 'RESULT_UNSERIALISABLE' },
    });
  });
});
