import { describe, expect, it } from 'vitest';
import type { Catalog } from './catalog.ts';
import { toolId, type RunId } from '../identity/ids.ts';
import { addInjected, checkRunSelection } from './injected-tools.ts';
import type { Policy } from '../policy/policy.ts';
import type { Identity, InjectedGrant } from '../identity/session.ts';
import { DEFAULT_LIMITS, type ToolDeclaration } from './tool.ts';
import { buildToolkit } from './toolkit.ts';

const RUN = 'run-1' as RunId;
const OFFER = toolId('shop', 'offer');
const READ = toolId('mail', 'read');
const ROOT = toolId('mail', 'root');
const grant = (tool = READ, by = OFFER): InjectedGrant => ({ run: RUN, tool, by });

const policyOf = (selections: Record<string, string[]>, permissions: Policy['permissions'] = {}): Policy => ({
  roles: {},
  permissions: { '*': { allow: ['*'] }, 'mail.root': { allow: ['alice'] }, ...permissions },
  paused: {},
  agents: Object.fromEntries(
    Object.entries(selections).map(([agent, ids]) => [
      agent,
      { selection: ids.map((id) => ({ module: id.split('.')[0]!, tools: [id.split('.')[1]!] })) },
    ]),
  ),
});
const as = (agent: string, ...delegators: string[]): Identity => ({
  tenant: 'default',
  subject: 'alice',
  agent,
  ...(delegators.length === 0 ? {} : { delegators }),
});
const read = { id: READ, privileged: false };

describe('checkRunSelection', () => {
  const policy = policyOf({ main: ['shop.offer'], idle: [], boss: ['shop.offer'], owner: ['shop.offer', 'mail.read'] });

  it('adds what a selected tool offered, for the agent that selected it', () => {
    expect(checkRunSelection(policy, read, as('main'), [grant()])).toEqual({ selected: true });
    expect(checkRunSelection(policy, read, as('main'), [])).toMatchObject({ selected: false, agent: 'main' });
    expect(checkRunSelection(policy, read, as('idle'), [grant()])).toMatchObject({ selected: false, agent: 'idle' });
  });

  it('gives an agent that is not declared nothing', () => {
    expect(checkRunSelection(policy, read, as('nobody'), [grant()])).toMatchObject({ reason: 'agent-unknown' });
  });

  it('does not count an offer of an offered tool', () => {
    const more = toolId('mail', 'more');
    expect(checkRunSelection(policy, read, as('main'), [grant(more), grant(READ, more)]).selected).toBe(false);
  });

  it('holds no more than a delegator holds', () => {
    expect(checkRunSelection(policy, read, as('main', 'boss'), [grant()])).toMatchObject({
      selected: false,
      agent: 'boss',
    });
    expect(checkRunSelection(policy, read, as('main', 'owner', 'boss'), [grant()])).toMatchObject({ agent: 'boss' });
    expect(checkRunSelection(policy, read, as('main', 'owner'), [grant()])).toEqual({ selected: true });
  });

  it('never reaches a privileged tool', () => {
    const root = { id: ROOT, privileged: true };
    expect(checkRunSelection(policy, root, as('main'), [grant(ROOT)]).selected).toBe(false);
  });
});

describe('addInjected', () => {
  const declare = (id: ToolDeclaration['id'], privileged = false): ToolDeclaration => ({
    id,
    description: id,
    inputSchema: { type: 'object' },
    effect: 'read',
    privileged,
    serial: false,
    limits: DEFAULT_LIMITS,
    digest: id,
  });
  const moduleOf = (id: string, ...tools: ToolDeclaration[]) => ({
    id,
    description: id,
    version: '1.0.0',
    pool: 'default',
    tools,
    digest: id,
  });
  const catalog: Catalog = {
    sequence: 1,
    digest: 'c',
    modules: [moduleOf('mail', declare(READ), declare(ROOT, true)), moduleOf('shop', declare(OFFER))],
  };
  const idsWith = (policy: Policy, injected: readonly InjectedGrant[]) => {
    const toolkit = addInjected(buildToolkit(catalog, policy, as('main')), catalog, policy, as('main'), injected);
    return { tools: toolkit.tools.map(({ tool }) => tool.id), missing: toolkit.missing.map(({ tool }) => tool) };
  };

  it('shows exactly what the run may call', () => {
    const policy = policyOf({ main: ['shop.offer'] });
    expect(idsWith(policy, [])).toEqual({ tools: [OFFER], missing: [READ, ROOT] });
    const absent = toolId('mail', 'absent');
    const injected = [grant(), grant(ROOT), grant(absent), grant(OFFER)];
    expect(idsWith(policy, injected)).toEqual({ tools: [READ, OFFER], missing: [ROOT] });
  });

  it('shows nothing that permission denies', () => {
    const policy = policyOf({ main: ['shop.offer'] }, { 'mail.read': { deny: ['alice'] } });
    expect(idsWith(policy, [grant()]).tools).toEqual([OFFER]);
  });
});
