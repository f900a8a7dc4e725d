import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Policy } from '../../src/domain/policy/policy.ts';
import type { JsonObject } from '../../src/base/json.ts';
import type { SessionHandle } from '../../src/exports/client.ts';
import { BACKENDS, OPEN_POLICY, stagePlane, type StagedPlane } from './support/stage-plane.ts';
import { callFor } from './support/watch-plane.ts';

const MODULES = fileURLToPath(new URL('../fixtures/injected-plane', import.meta.url));

/** Both agents have the tool that offers other tools; neither has selected the tools that it offers. */
const SELECTION = [{ module: 'shop', tools: ['offer'] }];
const SELECTING: Policy = {
  ...OPEN_POLICY,
  permissions: { '*': { allow: ['*'] }, 'shop.root': { allow: ['alice'] } },
  agents: { main: { selection: SELECTION }, other: { selection: SELECTION } },
};

describe.each(BACKENDS)('a tool that another one offers, on %s', (backend) => {
  let plane: StagedPlane;
  let session: SessionHandle;
  beforeAll(async () => {
    plane = await stagePlane(backend);
    await plane.startWorker({ modules: MODULES });
  });
  beforeEach(async () => {
    await plane.setPolicy(SELECTING);
    session = await plane.openSession();
  });
  afterEach(() => plane.setPolicy(OPEN_POLICY));
  afterAll(() => plane.stop());

  const call = (caller: SessionHandle, tool: string, args: JsonObject = {}) => callFor(plane, caller, tool, args);
  const offer = (caller: SessionHandle, ...tools: string[]) => call(caller, 'shop.offer', { tools });

  /** Makes a call and returns `ok`, or the code of the refusal. */
  async function ending(caller: SessionHandle, tool: string): Promise<string> {
    const { kind, error } = await call(caller, tool);
    return error?.code ?? kind;
  }

  /** What the model would be shown in this run. */
  const toolkitOf = async (caller: SessionHandle): Promise<string[]> =>
    (await plane.client.toolkit(caller)).tools.map(({ tool }) => tool.id);

  it('is there for the rest of its run, in the toolkit and at execution, and for no other run, session or agent', async () => {
    expect(await ending(session, 'shop.read')).toBe('NOT_SELECTED');
    expect((await offer(session, 'shop.read')).writeBacks?.injectedTools).toMatchObject([{ tool: 'shop.read' }]);
    expect(await ending(session, 'shop.read')).toBe('ok');
    expect(await toolkitOf(session)).toStrictEqual(['shop.offer', 'shop.read']);

    const otherRun = await plane.client.openRun(session);
    const otherSession = await plane.openSession();
    const otherAgent = await plane.client.openSession({ subject: 'alice', agent: 'other' });
    for (const elsewhere of [otherRun, otherSession, otherAgent]) {
      expect(await ending(elsewhere, 'shop.read')).toBe('NOT_SELECTED');
      expect(await toolkitOf(elsewhere)).toStrictEqual(['shop.offer']);
    }
  });

  it('is gone when the run has ended, and does not come back with its outcome', async () => {
    const run = await plane.client.openRun(session);
    const key = 'offered-once';
    const offering = { tools: ['shop.read'] };
    await callFor(plane, run, 'shop.offer', offering, { key });
    expect(await ending(run, 'shop.read')).toBe('ok');
    await plane.client.endRun(session.id, run.run);
    expect(await ending(run, 'shop.read')).toBe('RUN_UNKNOWN');
    expect(await toolkitOf(run)).toStrictEqual(['shop.offer']);
    const replayed = await callFor(plane, session, 'shop.offer', offering, { key });
    expect(replayed.writeBacks?.injectedTools).toHaveLength(1);
    expect(await ending(session, 'shop.read')).toBe('NOT_SELECTED');
  });

  it('needs permission of its own, as the policy is now', async () => {
    await offer(session, 'shop.read');
    expect(await ending(session, 'shop.read')).toBe('ok');
    await plane.setPolicy({
      ...SELECTING,
      permissions: { ...SELECTING.permissions, 'shop.read': { deny: ['alice'] } },
    });
    expect(await ending(session, 'shop.read')).toBe('PERMISSION_DENIED');
    expect(await toolkitOf(session)).toStrictEqual(['shop.offer']);
    await plane.setPolicy({ ...SELECTING, paused: { tools: ['shop.read'] } });
    expect(await ending(session, 'shop.read')).toBe('PAUSED');
  });

  it('is lost with the tool that offered it, cannot offer further, and is never a privileged one', async () => {
    await offer(session, 'shop.read', 'shop.offerMore', 'shop.root');
    expect(await ending(session, 'shop.root')).toBe('NOT_SELECTED');
    const run = await plane.client.openRun(session);
    await offer(run, 'shop.offerMore');
    expect((await call(run, 'shop.offerMore', { tools: ['shop.read'] })).kind).toBe('ok');
    expect(await ending(run, 'shop.read')).toBe('NOT_SELECTED');

    expect(await ending(session, 'shop.read')).toBe('ok');
    await plane.setPolicy({ ...SELECTING, agents: { main: { selection: [] } } });
    expect(await ending(session, 'shop.read')).toBe('NOT_SELECTED');
  });

  it('is not kept when the tool that offers it fails', async () => {
    const failed = await call(session, 'shop.offer', { tools: ['shop.read'], fail: true });
    expect(failed).toMatchObject({ kind: 'failed', writeBacks: { injectedTools: [] } });
    expect(await ending(session, 'shop.read')).toBe('NOT_SELECTED');
  });
});
