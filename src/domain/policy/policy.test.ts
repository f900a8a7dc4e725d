import { describe, expect, it } from 'vitest';
import { checkPermission, CLOSED_POLICY, toolPatternMatches, type Policy } from './policy.ts';
import type { Identity } from '../identity/session.ts';

const alice: Identity = { tenant: 'default', subject: 'alice', agent: 'main' };
const otherAlice: Identity = { ...alice, tenant: 'acme' };
const TOOL = { id: 'notes.add', privileged: false };
const ROOT = { id: 'notes.add', privileged: true };

const allowing = (...allow: string[]): Policy => ({ ...CLOSED_POLICY, permissions: { 'notes.add': { allow } } });
const may = (policy: Policy, identity: Identity, tool = TOOL): boolean =>
  checkPermission(policy, tool, identity).allowed;

describe('checkPermission', () => {
  it('closes a tool that no entry names', () => {
    expect(checkPermission(CLOSED_POLICY, TOOL, alice)).toEqual({ allowed: false, reason: 'not-granted' });
  });

  it('the same name in two tenants is two people', () => {
    expect(may(allowing('alice'), alice)).toBe(true);
    expect(may(allowing('alice'), otherAlice)).toBe(false);
    expect(may(allowing('acme/alice'), otherAlice)).toBe(true);
    expect(may(allowing('acme/alice'), alice)).toBe(false);
  });

  it('a whole tenant is named with a star, and means that tenant only', () => {
    expect(may(allowing('acme/*'), otherAlice)).toBe(true);
    expect(may(allowing('acme/*'), alice)).toBe(false);
    expect(may(allowing('default/*'), alice)).toBe(true);
    expect(may(allowing('acme/*'), { ...alice, subject: 'acme/alice' })).toBe(false);
  });

  it('a role has the members it names, each in their own tenant', () => {
    const policy: Policy = { ...allowing('role:admins'), roles: { admins: ['alice', 'acme/bob'] } };
    expect(may(policy, alice)).toBe(true);
    expect(may(policy, otherAlice)).toBe(false);
    expect(may(policy, { ...otherAlice, subject: 'bob' })).toBe(true);
    expect(may(allowing('role:missing'), alice)).toBe(false);
    expect(may(allowing('role:constructor'), alice)).toBe(false);
  });

  it('deny beats allow across tenants and entries', () => {
    const policy: Policy = {
      ...CLOSED_POLICY,
      permissions: { 'notes.add': { allow: ['acme/alice'] }, '*': { deny: ['acme/*'] } },
    };
    expect(checkPermission(policy, TOOL, otherAlice)).toEqual({ allowed: false, reason: 'denied', entry: '*' });
  });

  it('neither all subjects nor a whole tenant nor all tools opens a privileged tool', () => {
    for (const name of ['*', 'default/*']) expect(may(allowing(name), alice, ROOT)).toBe(false);
    expect(may({ ...CLOSED_POLICY, permissions: { '*': { allow: ['alice'] } } }, alice, ROOT)).toBe(false);
    expect(may(allowing('alice'), alice, ROOT)).toBe(true);
    expect(may({ ...CLOSED_POLICY, permissions: { 'notes.*': { allow: ['alice'] } } }, alice, ROOT)).toBe(true);
  });

  it('all subjects and whole tenants are denied a privileged tool when they are named', () => {
    const policy: Policy = {
      ...CLOSED_POLICY,
      permissions: { 'notes.add': { allow: ['alice', 'acme/alice'], deny: ['acme/*'] } },
    };
    expect(may(policy, alice, ROOT)).toBe(true);
    expect(may(policy, otherAlice, ROOT)).toBe(false);
  });

  it.each([{ all: true }, { agents: ['main'] }, { tools: ['notes.*'] }, { tools: ['notes.add'] }, { tools: ['*'] }])(
    'the kill switch %j stops what is allowed',
    (paused) => {
      expect(checkPermission({ ...allowing('alice'), paused }, TOOL, alice)).toEqual({
        allowed: false,
        reason: 'paused',
      });
    },
  );

  it('a pattern with a star means the tools of that module and no others', () => {
    expect(toolPatternMatches('notes.*', 'notes.add')).toBe(true);
    expect(toolPatternMatches('notes.*', 'notesbook.add')).toBe(false);
    expect(toolPatternMatches('notes', 'notes.add')).toBe(false);
  });
});

describe('a pause of an agent', () => {
  const policy: Policy = { roles: {}, permissions: { '*': { allow: ['*'] } }, paused: { agents: ['boss'] } };
  const asked = { id: 'notes.add', privileged: false };
  it.each([
    ['that agent', { agent: 'boss' }, false],
    ['whoever acts for it', { agent: 'helper', delegators: ['main', 'boss'] }, false],
    ['nobody else', { agent: 'helper', delegators: ['main'] }, true],
  ])('stops %s', (_who, who, allowed) => {
    expect(checkPermission(policy, asked, { tenant: 'default', subject: 'ann', ...who }).allowed).toBe(allowed);
  });
});
