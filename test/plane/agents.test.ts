import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Outcome, SessionHandle, SessionToolkit } from '../../src/exports/client.ts';
import type { Policy } from '../../src/domain/policy/policy.ts';
import { normaliseSelection, type SelectionInput } from '../../src/domain/identity/selection.ts';
import { canonicalJson } from '../../src/base/canonical-json.ts';
import { createModuleFolder, type ModuleFolder } from '../fixtures/catalog/module-folder.ts';
import { eventually, spawnNode } from '../support/process.ts';
import { BACKENDS, OPEN_POLICY, stagePlane, type StagedPlane } from './support/stage-plane.ts';
import {
  callFor,
  endingsOf,
  holdRun,
  marksOf,
  queueCounts,
  releaseRuns,
  runOnce,
  untilMarks,
  untilStoreTime,
} from './support/watch-plane.ts';

const DECLARE_SCRIPT = fileURLToPath(new URL('support/declare-process.mjs', import.meta.url));

/** A module of tools that mark their run and may be held; `relay` calls another tool. */
function notesText(version: string, tools: readonly string[]): string {
  return `import { appendFileSync, existsSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { defineModule, jsonSchema, tool } from 'sallyport/tool';
const text = { type: 'string' };
const make = (name) => tool({
  description: name + ' a note.',
  input: jsonSchema({ type: 'object', properties: { file: text, label: text, until: text, tool: text } }),
  effect: 'unsafe',
  run: async ({ file, label, until, tool: other }, ctx) => {
    appendFileSync(file, \`S \${label} \${ctx.callId} \${ctx.fence} \${process.pid}\\n\`);
    while (until !== undefined && !existsSync(until)) await pause(10);
    const nested = other === undefined ? undefined : await ctx.call(other, { file, label: label + '-nested' });
    return { version: '${version}', nested: nested?.error?.code ?? nested?.kind ?? null };
  },
});
export default defineModule({
  id: 'notes',
  version: '${version}',
  description: 'Notes.',
  tools: Object.fromEntries(${JSON.stringify(tools)}.map((name) => [name, make(name)])),
});
`;
}

/** Agents declared in every way that the policy allows: triggers of a setup, lists, maps, everything. */
const DECLARED = {
  main: [{ setup_id: 'notes', triggers: { search: true, edit: false } }],
  member: [{ setup_id: 'notes', triggers: { edit: true } }],
  all: [{ module: 'notes', tools: 'all' }],
  searcher: [{ module: 'notes', tools: ['search'] }],
  editor: [{ module: 'notes', tools: { edit: true, search: false } }],
  none: [{ module: 'notes', tools: { edit: false, search: false } }],
} as const satisfies Record<string, SelectionInput>;
type AgentName = keyof typeof DECLARED;

const HOLDS: Record<AgentName, readonly string[]> = {
  main: ['notes.search'],
  member: ['notes.edit'],
  all: ['notes.edit', 'notes.relay', 'notes.search'],
  searcher: ['notes.search'],
  editor: ['notes.edit'],
  none: [],
};
const AGENTS = Object.keys(DECLARED) as AgentName[];
const TOOLS = ['edit', 'relay', 'search'];

function declaring(agents: Record<string, SelectionInput>): Policy {
  const declared = Object.entries(agents).map(([name, input]) => {
    const { selection } = normaliseSelection(input);
    return [name, { selection }] as const;
  });
  return { ...OPEN_POLICY, agents: Object.fromEntries(declared) };
}
const POLICY = declaring(DECLARED);

const ORDERS = [
  [0, 1, 2],
  [0, 2, 1],
  [1, 0, 2],
  [1, 2, 0],
  [2, 0, 1],
  [2, 1, 0],
] as const;

const idsOf = ({ tools }: SessionToolkit): string[] => tools.map(({ tool }) => tool.id);

function isFrozenThroughout(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return true;
  return Object.isFrozen(value) && Object.values(value).every(isFrozenThroughout);
}

const codeOf = ({ error, kind }: Outcome): string => error?.code ?? kind;

describe.each(BACKENDS)('agents that share a module on %s', (backend) => {
  let plane: StagedPlane;
  let folder: ModuleFolder;
  const sessions = new Map<string, SessionHandle>();
  beforeAll(async () => {
    plane = await stagePlane(backend);
    folder = createModuleFolder({ 'notes.mjs': notesText('1.0.0', TOOLS) });
    await plane.startWorker({ modules: folder.path, concurrency: 8 });
    for (const agent of AGENTS) sessions.set(agent, await plane.client.openSession({ subject: 'alice', agent }));
  });
  beforeEach(() => plane.setPolicy(POLICY));
  afterEach(releaseRuns);
  afterAll(async () => {
    await plane.stop();
    folder.dispose();
  });

  const call = (agent: string, tool: string, args = runOnce(plane, `${agent}:${tool}`)): Promise<Outcome> =>
    callFor(plane, sessions.get(agent)!, tool, args);

  it('run exactly what each of them selected, all at once, and are refused the rest though they name it', async () => {
    const before = canonicalJson(await plane.store.readCatalog());
    const asked = AGENTS.flatMap((agent) => TOOLS.map((name) => ({ agent, tool: `notes.${name}` })));
    const codes = await Promise.all(asked.map(async ({ agent, tool }) => codeOf(await call(agent, tool))));
    const expected = asked.map(({ agent, tool }) => (HOLDS[agent].includes(tool) ? 'ok' : 'NOT_SELECTED'));
    expect(asked.map((each, index) => ({ ...each, code: codes[index] }))).toEqual(
      asked.map((each, index) => ({ ...each, code: expected[index] })),
    );
    const ran = AGENTS.flatMap((agent) => HOLDS[agent].map((tool) => `${agent}:${tool}`));
    const marked = marksOf(plane, 'S').map(({ label }) => label);
    expect(marked.toSorted()).toEqual(ran.toSorted());
    expect(canonicalJson(await plane.store.readCatalog())).toBe(before);
  });

  it('are shown exactly what each of them selected, in every order, all at once, a thousand times', async () => {
    const before = canonicalJson(await plane.store.readCatalog());
    const trio = ['all', 'searcher', 'editor'] as const;
    const clients = [plane.client, await plane.connect()];
    for (let turn = 0; turn < 1000; turn += 1) {
      // Every 50 turns the policy gets a new version, so all toolkits are computed anew while they are requested.
      const changing = turn % 50 === 0 ? plane.setPolicy(POLICY) : undefined;
      const order = ORDERS[turn % ORDERS.length]!.map((index) => trio[index]!);
      const asked = order.map((agent) => clients[turn % 2]!.toolkit(sessions.get(agent)!));
      const shown = (await Promise.all(asked)).map(idsOf);
      expect(shown).toEqual(order.map((agent) => HOLDS[agent]));
      await changing;
    }
    const { tools } = await plane.client.toolkit(sessions.get('all')!);
    expect(isFrozenThroughout(tools)).toBe(true);
    const shared = { ...(await plane.client.catalog()) };
    expect(canonicalJson(shared)).toBe(before);
    expect(canonicalJson(await plane.store.readCatalog())).toBe(before);
  });

  it('are shown a change of their selection with the next question', async () => {
    for (const name of ['edit', 'relay', 'search']) {
      await plane.setPolicy(declaring({ main: [{ module: 'notes', tools: [name] }] }));
      const toolkit = await plane.client.toolkit(sessions.get('main')!);
      expect(idsOf(toolkit)).toEqual([`notes.${name}`]);
      expect(toolkit.policyVersion).toBe((await plane.store.readPolicy()).version);
    }
  });

  it('are notified of each new toolkit, and of the end of their session', async () => {
    const session = await plane.client.openSession({ subject: 'alice', agent: 'main' });
    const told: (readonly string[] | undefined)[] = [];
    plane.client.watchToolkit(session, (toolkit) => told.push(toolkit && idsOf(toolkit)));
    await eventually(() => told.length === 1);
    await plane.setPolicy(declaring({ main: [{ module: 'notes', tools: ['edit'] }] }));
    await eventually(() => told.length === 2);
    await plane.client.revokeSession(session.id);
    await eventually(() => told.length === 3);
    expect(told).toEqual([['notes.search'], ['notes.edit'], undefined]);
  });

  it('are shown nothing with the token of another', async () => {
    const { token } = sessions.get('all')!;
    await expect(plane.client.toolkit({ ...sessions.get('main')!, token })).rejects.toMatchObject({
      code: 'SESSION_INVALID',
    });
  });

  it('are refused tools without a declaration', async () => {
    sessions.set('stranger', await plane.client.openSession({ subject: 'alice', agent: 'stranger' }));
    const outcome = await call('stranger', 'notes.search');
    expect(outcome).toMatchObject({ kind: 'denied', executed: 'no', error: { code: 'NOT_SELECTED' } });
    expect((await endingsOf(plane)).some(({ code }) => code === 'NOT_SELECTED')).toBe(true);
  });

  it('delegate at most what they hold, and the delegate at most what it selected', async () => {
    const delegatedBy = sessions.get('main')!;
    const openFor = (agent: AgentName) => plane.client.openSession({ subject: 'alice', agent, delegatedBy });
    for (const agent of ['all', 'member'] as const) sessions.set(`${agent} for main`, await openFor(agent));
    const outcomes = await Promise.all([
      call('all for main', 'notes.search', runOnce(plane, 'delegated-search')),
      call('all for main', 'notes.edit', runOnce(plane, 'delegated-edit')),
      call('member for main', 'notes.edit', runOnce(plane, 'delegated-edit')),
      call('member for main', 'notes.search', runOnce(plane, 'delegated-none')),
    ]);
    expect(outcomes.map(codeOf)).toEqual(['ok', 'NOT_SELECTED', 'NOT_SELECTED', 'NOT_SELECTED']);
    expect(outcomes.map(({ error }) => error?.facts?.['agent'])).toEqual([undefined, 'main', 'main', 'member']);
    expect(marksOf(plane, 'S', 'delegated-edit')).toHaveLength(0);
  });

  it('get nothing more through a tool that calls another', async () => {
    await plane.setPolicy(declaring({ main: [{ module: 'notes', tools: ['relay', 'search'] }] }));
    const nest = (tool: string) => call('main', 'notes.relay', { ...runOnce(plane, `via-${tool}`), tool });
    const [search, edit] = await Promise.all([nest('notes.search'), nest('notes.edit')]);
    expect([search, edit].map(({ structured }) => (structured as { nested: string }).nested)).toEqual([
      'ok',
      'NOT_SELECTED',
    ]);
    expect(marksOf(plane, 'S', 'via-notes.edit-nested')).toHaveLength(0);
  });

  it('are judged by the selection at the claim: what was queued before a change obeys it', async () => {
    const running = Array.from({ length: 8 }, (_, index) => holdRun(plane, `slot-${index}`));
    const full = running.map((run) => call('all', 'notes.search', run.args));
    await eventually(() => marksOf(plane, 'S').filter(({ label }) => label.startsWith('slot-')).length === 8);
    const queued = [
      call('main', 'notes.search', runOnce(plane, 'taken-away')),
      call('main', 'notes.edit', runOnce(plane, 'given')),
    ];
    await eventually(async () => (await plane.store.listCalls({ limit: 1000 })).filter(isOpen).length === 10);
    await plane.setPolicy(declaring({ ...DECLARED, main: [{ module: 'notes', tools: ['edit'] }] }));
    for (const run of running) run.release();
    expect((await Promise.all(queued)).map(codeOf)).toEqual(['NOT_SELECTED', 'ok']);
    expect(marksOf(plane, 'S', 'taken-away')).toHaveLength(0);
    expect(marksOf(plane, 'S', 'given')).toHaveLength(1);
    // Calls that were running when the selection changed are not disturbed.
    expect((await Promise.all(full)).map(codeOf)).toEqual(full.map(() => 'ok'));
    // The agent is shown exactly what it may call now.
    expect(idsOf(await plane.client.toolkit(sessions.get('main')!))).toEqual(['notes.edit']);
    expect((await queueCounts(plane)).queued).toBe(0);
  });
});

describe.each(BACKENDS)('agents that code declares on %s', (backend) => {
  let plane: StagedPlane;
  let folder: ModuleFolder;
  beforeAll(async () => {
    plane = await stagePlane(backend);
    folder = createModuleFolder({ 'notes.mjs': notesText('1.0.0', TOOLS) });
    await plane.startWorker({ modules: folder.path });
  });
  beforeEach(() => plane.setPolicy(OPEN_POLICY));
  afterAll(async () => {
    await plane.stop();
    folder.dispose();
  });

  it('have what they declared with the next call, and the others have nothing from then on', async () => {
    const [main, other] = await Promise.all(
      ['main', 'other'].map((agent) => plane.client.openSession({ subject: 'alice', agent })),
    );
    const ask = async (): Promise<string[]> => {
      const asked = [main!, other!].flatMap((session) =>
        ['notes.search', 'notes.edit'].map((tool) => [session, tool] as const),
      );
      const calls = asked.map(([session, tool]) => callFor(plane, session, tool, runOnce(plane, 'declared')));
      return (await Promise.all(calls)).map(codeOf);
    };
    expect(await ask()).toEqual(['ok', 'ok', 'ok', 'ok']);
    const first = await plane.client.declareAgents({ main: [{ module: 'notes', tools: ['search', 'serch'] }] });
    expect(first).toMatchObject({
      changed: true,
      selectingBegan: true,
      warnings: [
        'agents.main selects notes.serch, which is not published, did you mean notes.search?',
        'main is the first agent: all others have no tools until they are declared too',
      ],
    });
    expect(await ask()).toEqual(['ok', 'NOT_SELECTED', 'NOT_SELECTED', 'NOT_SELECTED']);
    expect(idsOf(await plane.client.toolkit(main!))).toEqual(['notes.search']);
    expect((await plane.client.toolkit(main!)).policyVersion).toBe(first.policyVersion);

    const more = await plane.client.declareAgents({
      other: { selection: [{ setup_id: 'notes', triggers: { edit: true } }] },
    });
    expect(more).toMatchObject({ changed: true, selectingBegan: false, warnings: [] });
    expect(await ask()).toEqual(['ok', 'NOT_SELECTED', 'NOT_SELECTED', 'ok']);
    expect(await plane.client.declareAgents({ main: null })).toMatchObject({ changed: true, removed: ['main'] });
    expect(await ask()).toEqual(['NOT_SELECTED', 'NOT_SELECTED', 'NOT_SELECTED', 'ok']);
    await expect(plane.client.declareAgents({ main: [{ module: '*', tools: ['edit'] }] })).rejects.toMatchObject({
      code: 'POLICY_INVALID',
    });
  });

  it('have in a tenant what they declared for it, shown and executed, and another tenant sees nothing of it', async () => {
    await plane.client.declareAgents({ main: [{ module: 'notes', tools: ['search'] }] });
    const [general, acme, other] = await Promise.all(
      ['default', 'acme', 'other'].map((tenant) =>
        plane.client.openSession({ tenant, subject: 'alice', agent: 'main' }),
      ),
    );
    const guest = await plane.client.openSession({ tenant: 'other', subject: 'alice', agent: 'guest' });
    const ask = async (session: SessionHandle): Promise<string[]> => {
      const calls = ['notes.search', 'notes.edit'].map((tool) =>
        callFor(plane, session, tool, runOnce(plane, 'tenant')),
      );
      return (await Promise.all(calls)).map(codeOf);
    };
    const own = { main: [{ module: 'notes', tools: ['edit'] }], guest: [{ module: 'notes', tools: 'all' }] } as const;
    expect(await plane.client.declareAgents(own, { tenant: 'acme' })).toMatchObject({
      changed: true,
      selectingBegan: false,
      warnings: [],
    });
    expect(idsOf(await plane.client.toolkit(acme!))).toEqual(['notes.edit']);
    expect(await ask(acme!)).toEqual(['NOT_SELECTED', 'ok']);
    for (const session of [general!, other!]) {
      expect(idsOf(await plane.client.toolkit(session))).toEqual(['notes.search']);
      expect(await ask(session)).toEqual(['ok', 'NOT_SELECTED']);
    }
    expect(await ask(guest)).toEqual(['NOT_SELECTED', 'NOT_SELECTED']);
    const gone = await plane.client.declareAgents({ main: null }, { tenant: 'acme' });
    expect(gone).toMatchObject({ changed: true, removed: ['main'] });
    expect(await ask(acme!)).toEqual(['ok', 'NOT_SELECTED']);
    const wrong = plane.client.declareAgents(own, { tenant: 'a/b' });
    await expect(wrong).rejects.toMatchObject({ code: 'POLICY_INVALID' });
  });

  it('all survive when two processes declare at once, and saying it again writes no version', async () => {
    const declareAll = async (names: readonly string[]): Promise<{ changed: boolean; selectingBegan: boolean }[]> => {
      const agents = Object.fromEntries(
        names.map((name) => [name, [{ module: 'notes', tools: [name === names[0] ? 'edit' : 'search'] }]]),
      );
      const env = { ...process.env, DECLARE: JSON.stringify({ store: plane.storeOptions, agents }) };
      const declaring = await spawnNode(DECLARE_SCRIPT, [], { env });
      const line = await declaring.waitForLine(/^declared /);
      expect((await declaring.exited).code).toBe(0);
      return JSON.parse(line.slice('declared '.length)) as { changed: boolean; selectingBegan: boolean }[];
    };
    const names = ['left', 'right'].map((side) => Array.from({ length: 20 }, (_, index) => `${side}-${index}`));
    const before = (await plane.store.readPolicy()).version;
    const answers = (await Promise.all(names.map(declareAll))).flat();
    expect(answers.filter(({ changed }) => changed)).toHaveLength(40);
    expect(answers.filter(({ selectingBegan }) => selectingBegan)).toHaveLength(1);
    const { version, policy } = await plane.store.readPolicy();
    expect(version).toBe(before + 40);
    expect(Object.keys(policy.agents!).toSorted()).toEqual(names.flat().toSorted());
    expect(policy.permissions).toEqual(OPEN_POLICY.permissions);

    const again = (await Promise.all(names.map(declareAll))).flat();
    expect(again.filter(({ changed }) => changed)).toEqual([]);
    expect((await plane.store.readPolicy()).version).toBe(version);
  });
});

const isOpen = ({ state }: { readonly state: string }): boolean => !['settled', 'cancelled', 'expired'].includes(state);

describe.each(BACKENDS)('a module that is deployed again on %s', (backend) => {
  let plane: StagedPlane;
  const folders: ModuleFolder[] = [];
  beforeEach(async () => {
    plane = await stagePlane(backend);
    await plane.setPolicy(POLICY);
  });
  afterEach(async () => {
    releaseRuns();
    await plane.stop();
    for (const folder of folders.splice(0)) folder.dispose();
  });

  function modulesOf(version: string, tools: readonly string[]): ModuleFolder {
    const folder = createModuleFolder({ 'notes.mjs': notesText(version, tools) });
    folders.push(folder);
    return folder;
  }

  const untilPublished = (version: string): Promise<boolean> =>
    eventually(async () => (await plane.store.readCatalog()).modules[0]?.version === version);

  it('gives a new tool only to agents that select all, and disturbs no call under way', async () => {
    const folder = modulesOf('1.0.0', TOOLS);
    await plane.startWorker({ modules: folder.path, watch: true });
    const open = (agent: AgentName) => plane.client.openSession({ subject: 'alice', agent });
    const [all, main, editor] = [await open('all'), await open('main'), await open('editor')];
    const held = holdRun(plane, 'held');
    const running = callFor(plane, main, 'notes.search', held.args);
    await untilMarks(plane, 'S', 'held');

    folder.write('notes.mjs', notesText('1.1.0', [...TOOLS, 'remove']));
    await untilPublished('1.1.0');
    const shown = await Promise.all([all, main, editor].map((session) => plane.client.toolkit(session)));
    expect(shown.map((toolkit) => idsOf(toolkit).includes('notes.remove'))).toEqual([true, false, false]);
    const remove = [all, main, editor].map((session) =>
      callFor(plane, session, 'notes.remove', runOnce(plane, 'remove')),
    );
    expect((await Promise.all(remove)).map(codeOf)).toEqual(['ok', 'NOT_SELECTED', 'NOT_SELECTED']);
    expect(marksOf(plane, 'S', 'remove')).toHaveLength(1);
    held.release();
    expect(await running).toMatchObject({ kind: 'ok', structured: { version: '1.0.0' } });
    expect(marksOf(plane, 'S', 'held')).toHaveLength(1);
  });

  it('is published once while workers of two versions run side by side', async () => {
    const old = await plane.startWorker({ modules: modulesOf('1.0.0', TOOLS).path });
    await plane.startWorker({ modules: modulesOf('1.1.0', [...TOOLS, 'remove']).path });
    await untilPublished('1.1.0');
    // A worker of the old version starts last, as in a deploy that is rolled out and partly rolled back.
    await old.process.stop();
    await plane.startWorker({ modules: modulesOf('1.0.0', TOOLS).path });
    const { sequence, digest } = await plane.store.readCatalog();
    const session = await plane.client.openSession({ subject: 'alice', agent: 'all' });
    const calling = Array.from({ length: 30 }, (_, index) =>
      callFor(plane, session, index % 2 === 0 ? 'notes.remove' : 'notes.search', runOnce(plane, `call-${index}`)),
    );
    expect(new Set((await Promise.all(calling)).map(codeOf))).toEqual(new Set(['ok']));
    const first = await plane.client.toolkit(session);
    await untilStoreTime(plane, 2500);
    expect(await plane.store.readCatalog()).toMatchObject({ sequence, digest });
    expect(await plane.client.toolkit(session)).toBe(first);
    expect(idsOf(first)).toContain('notes.remove');
  });
});
