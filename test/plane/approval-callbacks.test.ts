import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Approval, ApprovalId, CallbackState } from '../../src/domain/policy/approval.ts';
import type { Policy } from '../../src/domain/policy/policy.ts';
import { eventually } from '../support/process.ts';
import { BACKENDS, OPEN_POLICY, stagePlane, type PlaneWorker, type StagedPlane } from './support/stage-plane.ts';
import { audit, untilStoreTime } from './support/watch-plane.ts';

const ASKING: Policy = { ...OPEN_POLICY, rules: [{ id: 'look', verdict: 'ask', tools: ['basic.write'] }] };
const OPERATOR = { kind: 'operator', name: 'ops' } as const;
/** The timeout of the hook. Together with the lease of the tests it is the time for which a worker keeps a callback that it has claimed. */
const HOOK_MS = 1500;

/** A plugin that writes a line when its hook is entered and one when it has ended. A file makes it die or wait in between. */
const PLUGIN = (folder: string): string => `
import { appendFileSync, existsSync } from 'node:fs';
const folder = ${JSON.stringify(folder)};
export default { id: 'told', hooks: [{ id: 'resolved', on: 'approval_resolved', tools: ['basic.write'],
  async run({ approvalId, resolution, by }) {
    const write = (mark) => appendFileSync(folder + '/told.txt', [mark, approvalId, resolution, process.pid, by].join(' ') + '\\n');
    write('S');
    if (existsSync(folder + '/die')) process.kill(process.pid, 'SIGKILL');
    while (existsSync(folder + '/hold')) await new Promise((resolve) => setTimeout(resolve, 20));
    write('E');
  } }] };
`;

describe.each(BACKENDS)('callbacks of approvals on %s', (backend) => {
  let plane: StagedPlane;
  let workers: PlaneWorker[] = [];
  let startedWithMs: number | undefined;
  const file = (name: string): string => join(plane.folder, name);
  beforeAll(async () => {
    plane = await stagePlane(backend);
    await plane.setPolicy(ASKING);
    writeFileSync(file('told.mjs'), PLUGIN(plane.folder));
  });
  beforeEach(() => writeFileSync(file('told.txt'), ''));
  afterAll(() => plane.stop());

  /** Makes exactly `count` workers with the hook run. Live workers of the test before are kept: a start costs a second of CPU. */
  async function start(count: number, timeoutMs = HOOK_MS): Promise<void> {
    const alive = workers.filter(({ process }) => process.exit === undefined);
    const kept = timeoutMs === startedWithMs ? alive.slice(0, count) : [];
    await Promise.all(alive.filter((worker) => !kept.includes(worker)).map(({ process }) => process.stop()));
    const hooks = [{ file: file('told.mjs'), timeoutMs }];
    const added = Array.from({ length: count - kept.length }, () => plane.startWorker({ hooks }));
    workers = [...kept, ...(await Promise.all(added))];
    startedWithMs = timeoutMs;
  }
  const told = (id: ApprovalId, mark = 'S') =>
    readFileSync(file('told.txt'), 'utf8')
      .split('\n')
      .map((line) => line.split(' '))
      .filter(([letter, approval]) => letter === mark && approval === id);

  async function ask(): Promise<{ readonly approval: Approval; readonly asker: PlaneWorker }> {
    const session = await plane.openSession();
    await plane.client.call(session, 'basic.write', { file: plane.effectFile, line: 'x' }, { waitMs: 0 });
    const [approval] = (await eventually(
      async () => {
        const pending = await plane.client.approvals.list(OPERATOR, { state: 'pending' });
        return pending.length > 0 ? pending : undefined;
      },
      { what: 'a question' },
    )) as [Approval];
    return { approval, asker: workers.find(({ workerId }) => workerId === approval.askedBy)! };
  }
  const deny = ({ question: { id, binding } }: Approval) =>
    plane.client.approvals.decide(OPERATOR, id, { decision: 'deny', binding });
  const until = (id: ApprovalId, state: CallbackState) =>
    eventually(async () => (await plane.store.readApproval(id))?.callback === state, { what: `callback ${state}` });

  it('are invoked by the worker that asked, once, with the resolution and who decided', async () => {
    await start(2);
    const { approval, asker } = await ask();
    await deny(approval);
    const { id } = approval.question;
    await until(id, 'done');
    expect(told(id)).toStrictEqual([['S', id, 'deny', String(asker.process.pid), 'operator', 'ops']]);
  });

  it('are invoked by another worker when the one that asked was killed', async () => {
    await start(2);
    const { approval, asker } = await ask();
    asker.process.kill('SIGKILL');
    await asker.process.exited;
    await deny(approval);
    const { id } = approval.question;
    await until(id, 'done');
    const other = workers.find((worker) => worker !== asker)!;
    expect(told(id).map(([, , , pid]) => pid)).toStrictEqual([String(other.process.pid)]);
  });

  it('of a claimant that was killed in the middle are unknown, and are not invoked again', async () => {
    await start(1);
    const { approval, asker } = await ask();
    writeFileSync(file('die'), '');
    await deny(approval);
    await asker.process.exited;
    await start(2).finally(() => rmSync(file('die')));
    const { id } = approval.question;
    await until(id, 'unknown');
    const unknown = (await audit(plane)).filter(({ event }) => event === 'callback.unknown');
    expect(unknown.map((entry) => entry.approval)).toStrictEqual([id]);
    // The new workers go on looking for callbacks: they invoke the hook for a later question, but not again for this one.
    const later = await ask();
    await deny(later.approval);
    await until(later.approval.question.id, 'done');
    expect(told(id)).toHaveLength(1);
    expect(told(id, 'E')).toStrictEqual([]);
  });

  it('under way are finished by a worker that drains', async () => {
    await start(1, 60_000);
    const { approval, asker } = await ask();
    const { id } = approval.question;
    writeFileSync(file('hold'), '');
    await deny(approval);
    await eventually(() => told(id).length > 0, { what: 'the callback' });
    asker.process.kill('SIGTERM');
    await eventually(async () => (await plane.store.listWorkers()).some(({ state }) => state === 'draining'));
    // Longer than a drain takes when nothing is under way.
    await untilStoreTime(plane, 3000);
    expect(asker.process.exit).toBeUndefined();
    expect((await plane.store.readApproval(id))?.callback).toBe('claimed');
    rmSync(file('hold'));
    expect(await asker.process.exited).toMatchObject({ code: 0 });
    expect(told(id, 'E')).toHaveLength(1);
    expect((await plane.store.readApproval(id))?.callback).toBe('done');
  });

  it('wait for a worker that has a hook for them; others leave them', async () => {
    await start(1);
    const { approval, asker } = await ask();
    await asker.process.stop();
    workers = [await plane.startWorker()];
    startedWithMs = undefined;
    await deny(approval);
    const { id } = approval.question;
    // Long enough for a worker with the hook to find the callback.
    await untilStoreTime(plane, 2500);
    expect((await plane.store.readApproval(id))?.callback).toBe('waiting');
    await start(1);
    await until(id, 'done');
    expect(told(id)).toHaveLength(1);
  });
});
