import { rmSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { SessionHandle } from '../../src/exports/client.ts';
import { callIdFor } from '../../src/domain/identity/new-id.ts';
import { createModuleFolder, type ModuleFolder } from '../fixtures/catalog/module-folder.ts';
import { eventually } from '../support/process.ts';
import { BACKENDS, LEASE_MS, OPEN_POLICY, stagePlane, type StagedPlane } from './support/stage-plane.ts';
import { callFor, marksOf, runOnce, untilMarks, untilStalled, untilStoreTime } from './support/watch-plane.ts';

/** Longer than a worker trusts the last answer of the store: see `TRUST_SNAPSHOT_MS`. */
const OLD_MS = 400;

/** A hook that writes a mark when it is entered, and lets the call go on when the file is gone. */
const SLOW_HOOK = `import { appendFileSync, existsSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { defineHooks } from 'sallyport/gate';
export default defineHooks({
  id: 'slow',
  hooks: [{
    id: 'slow', on: 'before_tool_call', tools: ['scenario.*'],
    run: async ({ callId, arguments: { file, label } }) => {
      appendFileSync(file, \`H \${label} \${callId} 0 \${process.pid}\\n\`);
      while (existsSync(\`\${file}.hold\`)) await pause(10);
    },
  }],
});
`;

/** A tool whose module is imported slowly by a new process: the import waits until the file is gone. */
const slowImport = (effectFile: string): string => `import { appendFileSync, existsSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { defineModule, jsonSchema, tool } from 'sallyport/tool';
const file = ${JSON.stringify(effectFile)};
if (existsSync(file + '.hold')) appendFileSync(file, 'I import - 0 ' + process.pid + '\\n');
while (existsSync(file + '.hold')) await pause(10);
const text = { type: 'string' };
export default defineModule({
  id: 'heavy', version: '1.0.0', description: 'Heavy.', runner: 'process',
  tools: { write: tool({
    description: 'Writes.', effect: 'unsafe',
    input: jsonSchema({ type: 'object', properties: { file: text, label: text } }),
    run: ({ file, label }, ctx) => {
      appendFileSync(file, \`S \${label} \${ctx.callId} \${ctx.fence} \${process.pid}\\n\`);
      return {};
    },
  }) },
});
`;

interface Withdrawal {
  readonly name: string;
  readonly code: string;
  /** Makes the withdrawal; resolves when the store has acknowledged it. */
  readonly take: (plane: StagedPlane, session: SessionHandle, key: string) => Promise<unknown>;
}

const setPolicy =
  (change: object): Withdrawal['take'] =>
  (plane) =>
    plane.setPolicy({ ...OPEN_POLICY, ...change });

const WITHDRAWALS: readonly Withdrawal[] = [
  {
    name: 'the selection is taken away',
    code: 'NOT_SELECTED',
    take: setPolicy({ agents: { main: { selection: [{ module: 'other', tools: 'all' }] } } }),
  },
  {
    name: 'a rule denies it',
    code: 'RULE_DENIED',
    take: setPolicy({ rules: [{ id: 'no', verdict: 'deny', tools: ['*'] }] }),
  },
  { name: 'everything is paused', code: 'PAUSED', take: setPolicy({ paused: { all: true } }) },
  {
    name: 'the permission is taken away',
    code: 'PERMISSION_DENIED',
    take: setPolicy({ permissions: { '*': { allow: ['*'], deny: ['alice'] } } }),
  },
  {
    name: 'the session is revoked',
    code: 'SESSION_ENDED',
    take: (plane, session) => plane.client.revokeSession(session.id),
  },
  {
    name: 'the call is cancelled',
    code: 'CALL_CANCELLED',
    take: (plane, session, key) => plane.client.cancel(session, callIdFor(session.id, key)!),
  },
];

describe.each(BACKENDS)('between its verdict and its start a call on %s', (backend) => {
  let plane: StagedPlane;
  let session: SessionHandle;
  const folders: ModuleFolder[] = [];
  const holdFile = (): string => `${plane.effectFile}.hold`;
  beforeEach(async () => {
    plane = await stagePlane(backend);
    session = await plane.openSession();
  });
  afterEach(async () => {
    rmSync(holdFile(), { force: true });
    await plane.stop();
    for (const folder of folders.splice(0)) folder.dispose();
  });

  function folderWith(files: Readonly<Record<string, string>>): ModuleFolder {
    const folder = createModuleFolder(files);
    folders.push(folder);
    return folder;
  }

  it.each(WITHDRAWALS)('held by a slow hook does not start when $name', async ({ code, take }) => {
    await plane.startWorker({ hooks: [{ file: folderWith({ 'hooks.mjs': SLOW_HOOK }).file('hooks.mjs') }] });
    writeFileSync(holdFile(), '');
    const callings = ['scenario.write', 'scenario.read'].map((tool) =>
      callFor(plane, session, tool, runOnce(plane, tool), { key: tool }),
    );
    await untilMarks(plane, 'H', undefined, 2);
    for (const key of ['scenario.write', 'scenario.read'])
      if (key === 'scenario.write' || code === 'CALL_CANCELLED') await take(plane, session, key);
    await untilStoreTime(plane, OLD_MS);
    rmSync(holdFile());
    const outcomes = await Promise.all(callings);
    expect(outcomes.map(({ error }) => error?.code)).toEqual([code, code]);
    expect(marksOf(plane, 'S')).toEqual([]);
  });

  it('held by a slow hook starts as usual when nothing was taken away, also under a newer policy', async () => {
    await plane.startWorker({ hooks: [{ file: folderWith({ 'hooks.mjs': SLOW_HOOK }).file('hooks.mjs') }] });
    writeFileSync(holdFile(), '');
    const calling = callFor(plane, session, 'scenario.write', runOnce(plane, 'kept'));
    await untilMarks(plane, 'H', 'kept');
    await plane.setPolicy({ ...OPEN_POLICY, roles: { reader: ['bob'] } });
    await untilStoreTime(plane, OLD_MS);
    rmSync(holdFile());
    expect((await calling).kind).toBe('ok');
    expect(marksOf(plane, 'S', 'kept')).toHaveLength(1);
  });

  it('held by a slow hook is asked about when a rule wants that by now', async () => {
    await plane.startWorker({ hooks: [{ file: folderWith({ 'hooks.mjs': SLOW_HOOK }).file('hooks.mjs') }] });
    writeFileSync(holdFile(), '');
    const calling = callFor(plane, session, 'scenario.write', runOnce(plane, 'asked'));
    await untilMarks(plane, 'H', 'asked');
    await plane.setPolicy({ ...OPEN_POLICY, rules: [{ id: 'ask', verdict: 'ask', tools: ['*'] }] });
    await untilStoreTime(plane, OLD_MS);
    rmSync(holdFile());
    const [approval] = await eventually(
      async () => {
        const found = await plane.store.listApprovals({ limit: 10 });
        return found.length > 0 ? found : undefined;
      },
      { what: 'a question' },
    );
    expect(approval!.question.tool).toBe('scenario.write');
    expect(marksOf(plane, 'S')).toEqual([]);
    await plane.client.revokeSession(session.id);
    expect((await calling).kind).toBe('denied');
  });

  it.each(WITHDRAWALS)(
    'whose worker stalls behind the start mark does not start when $name',
    async ({ code, take }) => {
      const worker = await plane.startWorker({ leaseMs: 60_000 }, undefined, 'startCall');
      const calling = callFor(plane, session, 'scenario.write', runOnce(plane, 'stalled'), { key: 'stalled' });
      await untilStalled(worker, 'startCall');
      await take(plane, session, 'stalled');
      await untilStoreTime(plane, OLD_MS);
      worker.process.kill('SIGCONT');
      const outcome = await calling;
      expect(outcome).toMatchObject({ executed: 'no', error: { code } });
      expect(marksOf(plane, 'S')).toEqual([]);
    },
  );

  it('whose worker stalls twice, past its lease, does not start after it was reported as indeterminate', async () => {
    const worker = await plane.startWorker({}, undefined, 'startCall,renewCalls');
    const calling = callFor(plane, session, 'scenario.write', runOnce(plane, 'lost'));
    await untilStalled(worker, 'startCall');
    await untilStoreTime(plane, OLD_MS);
    worker.process.kill('SIGCONT');
    await untilStalled(worker, 'renewCalls');
    await plane.startWorker();
    expect((await calling).kind).toBe('indeterminate');
    await untilStoreTime(plane, LEASE_MS);
    worker.process.kill('SIGCONT');
    const after = await callFor(plane, await plane.openSession('bob'), 'scenario.write', runOnce(plane, 'after'));
    expect(after.kind).toBe('ok');
    await worker.process.stop();
    expect(marksOf(plane, 'S', 'lost')).toEqual([]);
  });

  it.each(WITHDRAWALS.filter(({ code }) => code !== 'NOT_SELECTED'))(
    'whose process is still importing its module does not start when $name',
    async ({ code, take }) => {
      await plane.startWorker({ modules: folderWith({ 'heavy.mjs': slowImport(plane.effectFile) }).path });
      writeFileSync(holdFile(), '');
      const calling = callFor(plane, session, 'heavy.write', runOnce(plane, 'heavy'), { key: 'heavy' });
      await untilMarks(plane, 'I', 'import');
      await take(plane, session, 'heavy');
      await untilStoreTime(plane, OLD_MS);
      rmSync(holdFile());
      expect((await calling).error?.code).toBe(code);
      expect(marksOf(plane, 'S')).toEqual([]);
    },
  );
});
