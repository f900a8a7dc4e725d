import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { nearNames } from '../../base/near-names.ts';
import type { AgentDeclaration } from '../../domain/identity/selection.ts';
import { CLOSED_POLICY, type Policy } from '../../domain/policy/policy.ts';
import { findNameWarnings } from './name-warnings.ts';
import { findPolicyWarnings, readPolicyFile } from './policy-file.ts';

let folder: string;
beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), 'sallyport-names-'))));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const ALL: AgentDeclaration = { selection: [{ module: '*', tools: 'all' }] };
const agents = { nightly: ALL };
const warningsOf = (parts: Partial<Policy>): string[] =>
  findNameWarnings({ ...CLOSED_POLICY, ...parts }, nearNames).map(({ text }) => text);

it.each([
  [{ unattended: ['nightly', 'nigtly'] }, 'unattended names nigtly'],
  [{ paused: { agents: ['nigtly'] } }, 'paused.agents names nigtly'],
  [{ secrets: { '*': ['A'], nigtly: ['B'] } }, 'secrets names nigtly'],
])('an agent that is not declared is found in %j', (parts, found) => {
  expect(warningsOf({ agents, ...parts })).toStrictEqual([
    `${found}, which is no declared agent, did you mean nightly?`,
  ]);
});

it('any name may be an agent if the policy declares none; agents of a tenant are declared too', () => {
  expect(warningsOf({ unattended: ['a'], paused: { agents: ['b'] }, secrets: { c: ['D'] } })).toStrictEqual([]);
  expect(warningsOf({ agents, tenants: { acme: { agents: { own: ALL } } }, unattended: ['own'] })).toStrictEqual([]);
});

it('warnings begin with the place of what the file sets, and with none for what it leaves as it is', () => {
  const path = join(folder, 'policy.yaml');
  writeFileSync(
    path,
    `permissions:
  clock.nwo: { allow: ["*"] }
unattended:
  - nightly
  - nigtly
secrets:
  nigtly: [B]
paused:
  agents: [nigtly]
  tools: [shell.rum]
`,
  );
  const file = readPolicyFile(path, nearNames);
  const policy: Policy = { ...file.policy, agents: { nightly: ALL, dayly: { selection: [] } } };
  const tools = [{ id: 'clock.now', privileged: false }];
  const warnings = findPolicyWarnings(policy, tools, nearNames, file);
  const placed = (place: string): unknown => expect.stringContaining(`policy.yaml:${place}: `);
  expect(warnings).toStrictEqual([
    placed('2:3'),
    placed('10:11'),
    placed('9:12'),
    placed('5:5'),
    placed('7:3'),
    'agents.dayly selects nothing: it has no tools',
  ]);
});
