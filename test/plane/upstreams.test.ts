import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DEFAULT_UPSTREAM_LIMITS, type Upstream } from '../../src/domain/upstream/upstream.ts';
import { acceptOffer, offerMark, viewUpstream } from '../../src/operate/upstream-pins.ts';
import type { SessionHandle } from '../../src/exports/client.ts';
import { eventually } from '../support/process.ts';
import { decide, park } from './support/gate-plane.ts';
import { BACKENDS, stagePlane, type PlaneWorker, type StagedPlane } from './support/stage-plane.ts';
import { callFor } from './support/watch-plane.ts';

const HOSTILE = fileURLToPath(new URL('../fixtures/upstreams/hostile.mjs', import.meta.url));
const ADA = { actor: { by: 'operator ada', via: 'cli' } } as const;

const isAlive = (pid: number): boolean => {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
};

describe.each(BACKENDS)('an MCP server as a module, on %s', (backend) => {
  let plane: StagedPlane;
  let session: SessionHandle;

  beforeEach(async () => {
    plane = await stagePlane(backend);
    session = await plane.openSession();
  });
  afterEach(() => plane.stop());

  const notesFile = (): string => join(plane.folder, 'notes');
  const notes = (): string[] => readFileSync(notesFile(), 'utf8').split('\n').filter(Boolean);
  const pids = (): number[] =>
    notes()
      .filter((line) => line.startsWith('start '))
      .map((line) => Number(line.split(' ')[1]));

  async function serve(trick: string): Promise<PlaneWorker> {
    const upstream: Upstream = {
      id: 'box',
      address: { kind: 'stdio', command: process.execPath, args: [HOSTILE, trick, notesFile()], env: {} },
      sharedBy: 'subject',
      limits: DEFAULT_UPSTREAM_LIMITS,
      asks: {},
      tools: {},
    };
    const worker = await plane.startWorker({ upstreams: [upstream], upstreamsFolder: join(plane.folder, 'homes') });
    await eventually(async () => (await plane.store.readCatalog()).modules.some(({ id }) => id === 'box'), {
      what: 'the module of the server',
    });
    return worker;
  }

  /** Accepts what the server offers, and waits until that is published. */
  async function acceptAll(): Promise<void> {
    await eventually(async () => (await plane.store.readOffer({ upstream: 'box' })) !== undefined, {
      what: 'the offer',
    });
    const other = acceptOffer(plane.store, 'box', { all: true }, ADA, 'another offer');
    await expect(other).rejects.toMatchObject({ code: 'UPSTREAM_OFFER_CHANGED' });
    const { offer } = await viewUpstream(plane.store, 'box', []);
    const choice = { all: true, effects: { 'tool act': 'read' } } as const;
    await acceptOffer(plane.store, 'box', choice, ADA, offerMark(offer!));
    const isPublished = async (): Promise<boolean> => {
      const { modules } = await plane.store.readCatalog();
      return modules.some(({ tools }) => tools.some((tool) => tool.id === 'box.act' && tool.unreviewed === undefined));
    };
    await eventually(isPublished, { what: 'the accepted definitions' });
  }

  it('asks a person about each call until an operator has accepted its definitions', async () => {
    await serve('none');
    const { approval, outcome } = await park(plane, session, 'box.act', { text: 'hi' });
    expect(approval.question.reasons.join()).toContain('no operator has reviewed it');
    expect(approval.question.arguments).toBe('{"text":"hi"}');
    await decide(plane, approval, 'allow-once');
    expect(await outcome).toMatchObject({ kind: 'ok', content: [{ kind: 'text', text: 'act got {"text":"hi"}' }] });
    await acceptAll();
    expect(await callFor(plane, session, 'box.act', { text: 'again' })).toMatchObject({ kind: 'ok' });
    const { definitions } = await viewUpstream(plane.store, 'box', []);
    expect(definitions.map(({ status }) => status)).toStrictEqual(['same']);
  });

  it('is not called for a definition that it has changed, and a question from before does not carry over', async () => {
    await serve('changes-after-call');
    // The change comes with the second call; the first one is parked before.
    const parked = await park(plane, session, 'box.act', { text: 'before' });
    const second = await park(plane, session, 'box.act', { text: 'second' });
    await decide(plane, second.approval, 'allow-once');
    expect(await second.outcome).toMatchObject({ kind: 'ok' });
    const changed = async (): Promise<boolean> =>
      (await viewUpstream(plane.store, 'box', [])).offer !== undefined &&
      JSON.stringify((await plane.store.readOffer({ upstream: 'box' }))?.now).includes('shell');
    await eventually(changed, { what: 'the report of the change' });
    await decide(plane, parked.approval, 'allow-once');
    expect(await parked.outcome).toMatchObject({ kind: 'denied', executed: 'no', error: { code: 'TOOL_QUARANTINED' } });
    const late = await callFor(plane, session, 'box.act', { text: 'late' });
    expect(late).toMatchObject({ kind: 'denied', executed: 'no', error: { code: 'TOOL_QUARANTINED' } });
    expect(notes().filter((line) => line.startsWith('call'))).toStrictEqual(['call {"text":"second"}']);
  });

  it('leaves no process behind when its worker is killed, and the call may have run', async () => {
    const worker = await serve('hangs');
    const { approval, outcome } = await park(plane, session, 'box.act', {});
    await decide(plane, approval, 'allow-once');
    await eventually(() => notes().some((line) => line.startsWith('call')), { what: 'the call at the server' });
    worker.process.kill('SIGKILL');
    await eventually(() => !pids().some(isAlive), { what: 'the end of the processes' });
    await plane.startWorker();
    expect(await outcome).toMatchObject({ kind: 'indeterminate', executed: 'unknown' });
  });

  it('leaves no process behind after a drain', async () => {
    const worker = await serve('children');
    await acceptAll();
    const outcome = await callFor(plane, session, 'box.act', {});
    const [block] = outcome.content;
    const started = JSON.parse(block?.kind === 'text' ? block.text : '[]') as number[];
    expect(started).toHaveLength(3);
    worker.process.kill('SIGTERM');
    await worker.process.waitForLine(/^drained/);
    await eventually(() => ![...pids(), ...started].some(isAlive), { what: 'the end of the processes' });
  });
});
