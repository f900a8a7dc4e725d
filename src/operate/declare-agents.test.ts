import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openDirectStore, type DirectStore } from '../../test/embedded/direct-store.ts';
import { makeCatalog } from '../../test/support/sample-catalog.ts';
import type { AgentsInput } from '../domain/identity/declared-agents.ts';
import type { Policy } from '../domain/policy/policy.ts';
import type { Store } from '../domain/ports/store.ts';
import { declareAgents as declareBy } from './declare-agents.ts';

const OPEN: Policy = { roles: {}, permissions: { '*': { allow: ['*'] } }, paused: { agents: ['rogue'] } };
const declareAgents = (store: Store, agents: AgentsInput) => declareBy(store, agents, {});
const NOTES = [{ module: 'notes', tools: ['add'] }];

describe('declareAgents', () => {
  let direct: DirectStore;
  let store: Store;
  beforeEach(async () => {
    direct = openDirectStore();
    store = direct.store;
    await store.writePolicy({ expectedVersion: 0, policy: OPEN });
    const { digest, modules } = makeCatalog({ notes: ['add', 'list'], clock: ['now'] });
    await store.writeCatalog({ expectedSequence: 0, digest, modules });
  });
  afterEach(() => direct.remove());

  const agentsNow = async () => (await store.readPolicy()).policy.agents;

  it('begins the selecting with the first agents, says so, and leaves the rest of the policy alone', async () => {
    const first = await declareAgents(store, { main: NOTES, helper: [{ module: 'clock', tools: 'all' }] });
    expect(first).toEqual({
      policyVersion: 2,
      changed: true,
      selectingBegan: true,
      declared: { main: { selection: NOTES }, helper: { selection: [{ module: 'clock', tools: 'all' }] } },
      removed: [],
      warnings: ['main, helper are the first agents: all others have no tools until they are declared too'],
    });
    expect(await store.readPolicy()).toEqual({ version: 2, policy: { ...OPEN, agents: first.declared } });
    const second = await declareAgents(store, { step: NOTES });
    expect(second).toMatchObject({ policyVersion: 3, selectingBegan: false, warnings: [] });
    expect(Object.keys((await agentsNow())!).toSorted()).toEqual(['helper', 'main', 'step']);
  });

  it('writes nothing when it says the same again, in whichever form and order', async () => {
    const forms: AgentsInput[] = [
      {
        a: [
          { module: 'notes', tools: ['list', 'add'] },
          { module: 'clock', tools: 'all' },
        ],
        b: [],
      },
      {
        b: { selection: [] },
        a: [
          { module: 'clock', tools: 'all' },
          { setup_id: 'notes', triggers: { add: true, list: true } },
        ],
      },
    ];
    const [first, again] = [await declareAgents(store, forms[0]!), await declareAgents(store, forms[1]!)];
    expect(again).toMatchObject({ policyVersion: first.policyVersion, changed: false, selectingBegan: false });
    expect((await store.readPolicy()).version).toBe(2);
  });

  it('begins the selecting of one tenant with its first agents, and of no other', async () => {
    const first = await declareBy(store, { main: NOTES }, {}, { tenant: 'acme' });
    expect(first).toMatchObject({
      selectingBegan: true,
      warnings: [
        'main is the first agent of tenant acme: all others of tenant acme have no tools until they are declared too',
      ],
    });
    const { policy } = await store.readPolicy();
    expect(policy).toEqual({ ...OPEN, tenants: { acme: { agents: { main: { selection: NOTES } } } } });
    expect(await declareBy(store, { main: NOTES }, {}, { tenant: 'acme' })).toMatchObject({ changed: false });
    const misspelt = [{ module: 'notes', tools: ['adds'] }];
    const second = await declareBy(store, { step: misspelt }, {}, { tenant: 'acme' });
    expect(second.selectingBegan).toBe(false);
    expect(second.warnings[0]).toContain('tenants.acme.agents.step selects notes.adds, which is not published');
    // Removing the last agents of the tenant leaves an empty group, so no agent of the tenant has tools.
    await declareBy(store, { main: null, step: null }, {}, { tenant: 'acme' });
    expect((await store.readPolicy()).policy.tenants).toEqual({ acme: { agents: {} } });
    for (const tenant of ['', 'a/b', '__proto__', 7 as never]) {
      await expect(declareBy(store, { main: NOTES }, {}, { tenant })).rejects.toMatchObject({ code: 'POLICY_INVALID' });
    }
  });

  it('replaces what an agent declared, with its description', async () => {
    await declareAgents(store, { main: { description: 'Old.', selection: NOTES } });
    await declareAgents(store, { main: [] });
    expect(await agentsNow()).toEqual({ main: { selection: [] } });
  });

  it('removes with null, returns the removed agents, and warns when no agent is left', async () => {
    await declareAgents(store, { main: NOTES, helper: NOTES });
    const one = await declareAgents(store, { helper: null, stranger: null });
    expect(one).toMatchObject({ changed: true, removed: ['helper'], warnings: [] });
    const last = await declareAgents(store, { main: null });
    expect(last).toMatchObject({
      changed: true,
      removed: ['main'],
      warnings: [expect.stringContaining('none has tools')],
    });
    expect(await agentsNow()).toEqual({});
    expect(await declareAgents(store, { main: null })).toMatchObject({ changed: false, removed: [] });
  });

  it.each([[{}], [{ stranger: null }]])('does not begin the selecting with %j', async (input) => {
    expect(await declareAgents(store, input)).toMatchObject({
      policyVersion: 1,
      changed: false,
      selectingBegan: false,
    });
    expect(await agentsNow()).toBeUndefined();
  });

  it('warns of names that are not published, as the command does', async () => {
    const { warnings } = await declareAgents(store, {
      main: [
        { module: 'notes', tools: ['ad', 'list'] },
        { module: 'clok', tools: 'all' },
      ],
      none: [],
    });
    expect(warnings).toEqual([
      'agents.main selects module clok, which is not published, did you mean clock?',
      'agents.main selects notes.ad, which is not published, did you mean notes.add?',
      'agents.none selects nothing: it has no tools',
      'main, none are the first agents: all others have no tools until they are declared too',
    ]);
  });

  it('warns when no permission stands beside the agents', async () => {
    await store.writePolicy({ expectedVersion: 1, policy: { ...OPEN, permissions: {} } });
    const { warnings } = await declareAgents(store, { main: NOTES });
    expect(warnings).toContain('the policy has no permissions: nobody may use any tool until it has');
  });

  it('changes nothing when a part of it cannot be understood', async () => {
    const bad = { main: NOTES, helper: [{ module: 'notes', tools: 'some' }] } as unknown as AgentsInput;
    await expect(declareAgents(store, bad)).rejects.toMatchObject({ code: 'POLICY_INVALID' });
    expect((await store.readPolicy()).version).toBe(1);
  });

  it('of many at once all survive', async () => {
    const names = Array.from({ length: 40 }, (_, index) => `agent-${index}`);
    const answers = await Promise.all(names.map((name) => declareAgents(store, { [name]: NOTES })));
    expect(Object.keys((await agentsNow())!).toSorted()).toEqual(names.toSorted());
    expect(answers.filter(({ selectingBegan }) => selectingBegan)).toHaveLength(1);
    expect(answers.every(({ changed }) => changed)).toBe(true);
  });
});
