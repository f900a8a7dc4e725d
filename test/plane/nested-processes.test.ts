import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BACKENDS, stagePlane, type StagedPlane } from './support/stage-plane.ts';
import { callFor } from './support/watch-plane.ts';

const MODULES = fileURLToPath(new URL('../fixtures/events-plane/modules', import.meta.url));

/** The kind of the outcome of a relayed call, followed by the kinds of the calls that it relayed in turn. */
function kindsIn(relayed: unknown): string[] {
  const { kind, inner } = (relayed ?? {}) as { kind?: string; inner?: unknown };
  return kind === undefined ? [] : [kind, ...kindsIn(inner)];
}

/** The worker has one slot and so one process: a tool that waits for its own nested call must not keep that call from running. */
describe.each(BACKENDS)('tools in processes that call each other, on a worker with one slot on %s', (backend) => {
  let plane: StagedPlane;
  beforeAll(async () => {
    plane = await stagePlane(backend);
    await plane.startWorker({ modules: MODULES, concurrency: 1 });
  });
  afterAll(() => plane.stop());

  const relayed = (times: number): { tool: string; args: object } =>
    times === 0
      ? { tool: 'apart.end', args: { how: 'text', secret: 'x' } }
      : { tool: 'apart.relay', args: { tool: relayed(times - 1).tool, arguments: relayed(times - 1).args } };

  it.each([1, 3])('run, %i calls deep', async (depth) => {
    const { tool, args } = relayed(depth);
    const session = await plane.openSession();
    const outcome = await callFor(plane, session, tool, args as never);
    expect([outcome.kind, ...kindsIn(outcome.structured)]).toEqual(Array.from({ length: depth + 1 }, () => 'ok'));
  });

  it('run one after the other, in any order of arrival', async () => {
    const session = await plane.openSession();
    const { tool, args } = relayed(1);
    const outcomes = await Promise.all(Array.from({ length: 4 }, () => callFor(plane, session, tool, args as never)));
    expect(outcomes.flatMap(({ structured }) => kindsIn(structured))).toEqual(['ok', 'ok', 'ok', 'ok']);
  });
});
