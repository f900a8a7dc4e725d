import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../support/process.ts';
import { BACKENDS, outcomeOf, stagePlane, type StagedPlane } from './support/stage-plane.ts';

const HOSTILE_MODULES = new URL('../fixtures/hostile-plane', import.meta.url).pathname;

describe.each(BACKENDS)('tools that misbehave on %s', (backend) => {
  let plane: StagedPlane;
  beforeAll(async () => {
    plane = await stagePlane(backend);
    await plane.startWorker({
      modules: decodeURIComponent(HOSTILE_MODULES),
      processes: { abortGraceMs: 300, maxHeapMb: 64, maxResidentBytes: 256 * 1024 * 1024 },
    });
  });
  afterAll(() => plane.stop());

  it.each([
    { tool: 'hostile.busyLoop', kind: 'timed-out' },
    { tool: 'hostile.exits', kind: 'crashed' },
    { tool: 'hostile.aborts', kind: 'crashed' },
    { tool: 'hostile.allocates', kind: 'crashed' },
    { tool: 'hostile.ignoresAbort', kind: 'timed-out' },
  ])('$tool is answered $kind while its neighbours finish', async ({ tool, kind }) => {
    const session = await plane.openSession();
    const bad = plane.client.call(session, tool, {}, { waitMs: 60_000 });
    const neighbours = Array.from({ length: 10 }, () =>
      plane.client.call(session, 'hostile.kind', {}, { waitMs: 60_000 }),
    );
    const answers = await Promise.all(neighbours);
    expect(answers.map((answer) => (answer.kind === 'settled' ? answer.outcome.kind : answer.kind))).toEqual(
      Array.from({ length: 10 }, () => 'ok'),
    );
    const outcome = await outcomeOf(plane, session, await bad);
    expect([outcome.kind, outcome.executed]).toEqual([kind, 'unknown']);
  });

  it('the fleet view counts the crashes', async () => {
    const workers = await eventually(
      async () => {
        const list = await plane.store.listWorkers();
        return list.some((worker) => worker.crashes >= 3) ? list : undefined;
      },
      { what: 'crashes in the fleet view' },
    );
    expect(workers[0]!.state).toBe('serving');
  });
});

describe.each(BACKENDS)('a poison call on %s', (backend) => {
  let plane: StagedPlane;
  beforeAll(async () => {
    plane = await stagePlane(backend);
  });
  afterAll(() => plane.stop());

  it('among 64 others ends crashed, and the others end ok', async () => {
    const session = await plane.openSession();
    let stopped = false;
    // Acts as a service manager: whenever a worker dies, it starts another one.
    const manager = (async () => {
      while (!stopped) {
        const { process } = await plane.startWorker();
        const ended = await Promise.race([process.exited, eventually(() => stopped, { everyMs: 50 })]);
        if (ended === true) return;
      }
    })();
    const args = { file: plane.effectFile, line: 'poison' };
    await eventually(async () => (await plane.client.catalog()).modules.length > 0);
    const others = Array.from({ length: 64 }, (_, index) =>
      plane.client.call(session, 'basic.echo', { text: `n${index}` }, { waitMs: 60_000 }),
    );
    const poison = plane.client.call(session, 'basic.poison', args, { waitMs: 60_000 });
    const outcome = await outcomeOf(plane, session, await poison);
    const kinds = await Promise.all(others.map(async (call) => (await outcomeOf(plane, session, await call)).kind));
    stopped = true;
    await manager;
    expect(outcome).toMatchObject({ kind: 'crashed', executed: 'unknown', error: { code: 'TOOL_POISONOUS' } });
    expect(kinds.filter((kind) => kind === 'ok')).toHaveLength(64);
    expect(plane.effects().length).toBeLessThanOrEqual(3);
  });
});
