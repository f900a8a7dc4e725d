import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { STAGES } from '../../src/domain/call/stages.ts';
import { eventually } from '../support/process.ts';
import { startProgram } from '../support/watched-process.ts';
import { stagePlane, type PlaneWorker, type StagedPlane } from '../plane/support/stage-plane.ts';

const MODULES = fileURLToPath(new URL('../fixtures/observe-plane/modules', import.meta.url));
const LOG = new URL('../../dist/observe/log.js', import.meta.url).href;
const TRACE_ID = '0af7651916cd43dd8448eb211c80319c';

describe('the log of a worker', () => {
  let plane: StagedPlane;
  let worker: PlaneWorker;
  beforeAll(async () => {
    plane = await stagePlane('embedded');
    worker = await plane.startWorker({ modules: MODULES });
  });
  afterAll(() => plane.stop());

  const lines = (): Record<string, unknown>[] =>
    worker.process.stderr
      .split('\n')
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line) as Record<string, unknown>);

  it('names stage, call and trace in every line about a call, for any text of its tool', async () => {
    const session = await plane.openSession();
    const trace = `00-${TRACE_ID}-b7ad6b7169203331-01`;
    const answer = await plane.client.call(session, 'own.speak', {}, { trace, waitMs: 60_000 });
    if (answer.kind !== 'settled') throw new Error(`the call is ${answer.kind}`);
    const ofCall = await eventually(() => {
      const found = lines().filter(({ callId }) => callId === answer.callId);
      return found.length >= 2 ? found : undefined;
    });
    expect(ofCall.map(({ stage, msg, traceId }) => ({ stage, msg, traceId }))).toStrictEqual([
      { stage: 'execute', msg: 'spoken', traceId: TRACE_ID },
      { stage: 'settle', msg: 'a call did not end ok', traceId: TRACE_ID },
    ]);
    expect(ofCall[0]).toMatchObject({ mood: 'fine', tool: 'own.speak' });
  });

  it('has a stage in lines that are about no call', async () => {
    const program = `import { createLog } from ${JSON.stringify(LOG)}; createLog('info').info({ signal: 'SIGTERM' }, 'draining');`;
    const child = await startProgram(process.execPath, ['--input-type=module', '-e', program]);
    await child.exited;
    expect(JSON.parse(child.stderr)).toMatchObject({ stage: 'operate', signal: 'SIGTERM', msg: 'draining' });
    const known: readonly unknown[] = [...STAGES, 'operate'];
    expect(lines().filter(({ stage }) => !known.includes(stage))).toStrictEqual([]);
  });
});
