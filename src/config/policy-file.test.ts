import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { nearNames } from '../catalog/near-names.ts';
import { PlaneError } from '../domain/errors.ts';
import { findPolicyDoubts, readPolicyFile } from './policy-file.ts';

let folder: string;
beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), 'sallyport-policy-'))));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function read(text: string, name = 'policy.yaml') {
  writeFileSync(join(folder, name), text);
  return readPolicyFile(join(folder, name), nearNames);
}
function problemOf(text: string): string {
  try {
    read(text);
  } catch (error) {
    if (error instanceof PlaneError && error.code === 'POLICY_INVALID')
      return error.message.replaceAll(`${folder}/`, '');
    throw error;
  }
  throw new Error('The policy was accepted.');
}

describe('readPolicyFile', () => {
  it('fills in what is left out, and knows whether the file speaks of pauses', () => {
    expect(read('permissions: { "*": { allow: ["*"] } }')).toStrictEqual({
      policy: { roles: {}, permissions: { '*': { allow: ['*'] } }, paused: {} },
      saysPaused: false,
    });
    expect(read('paused: { all: true }').saysPaused).toBe(true);
  });

  it.each([
    ['permisions: {}', 'policy.yaml:1:1: unknown key "permisions", did you mean "permissions"?'],
    [
      'permissions:\n  "*": { alow: ["*"] }',
      'policy.yaml:2:10: unknown key "alow" in permissions.*, did you mean "allow"?',
    ],
    ['permissions:\n  shell: {}', 'expected module.tool, module.* or *'],
    ['permissions:\n  "shell.*.x": {}', 'expected module.tool, module.* or *'],
    ['permissions: { "*": { allow: "*" } }', 'permissions.*.allow'],
    ['permissions: { "*": { allow: [""] } }', 'permissions.*.allow.0'],
    ['permissions: { "*": { allow: ["role:a b"] } }', 'expected a subject, role:NAME or *'],
    ['roles: { "a b": [] }', 'expected the name of a role'],
    ['roles: { ops: ann }', 'roles.ops'],
    ['paused: { all: "yes" }', 'paused.all'],
    ['paused: { tools: ["shell"] }', 'expected module.tool, module.* or *'],
    ['version: 1', 'unknown key "version"'],
    ['[]', 'the file'],
    ['roles: &a {}\npermissions: *a', 'anchors are not supported'],
    ['roles: { __proto__: [] }', '__proto__ is not allowed'],
    ['', 'the file is empty'],
  ])('refuses %j', (text, problem) => {
    expect(problemOf(text)).toContain(problem);
  });
});

describe('findPolicyDoubts', () => {
  const tools = [
    { id: 'clock.now', privileged: false },
    { id: 'shell.run', privileged: true },
  ];
  const doubtsOf = (text: string): string[] => findPolicyDoubts(read(text).policy, tools, nearNames);

  it.each([
    [
      'permissions: { clock.nwo: { allow: ["*"] } }',
      'permissions.clock.nwo matches no published tool, did you mean clock.now?',
    ],
    ['permissions: { "clok.*": { allow: [ann] } }', 'permissions.clok.* matches no published tool'],
    ['paused: { tools: [shell.rum] }', 'paused.tools shell.rum matches no published tool, did you mean shell.run?'],
    [
      'permissions: { clock.now: { allow: [ann, bo], deny: [ann] } }',
      'permissions.clock.now allows and denies ann; deny wins',
    ],
    [
      'permissions: { clock.now: { allow: [ann], deny: ["*"] } }',
      'permissions.clock.now denies everybody; its allow list has no effect',
    ],
    [
      'permissions: { clock.now: { allow: ["role:ops"] } }',
      'permissions.clock.now names role:ops, which is not among the roles',
    ],
    [
      'permissions: { "shell.*": { allow: ["*"] } }',
      'permissions.shell.* allows *, but shell.run is privileged and stays closed without names',
    ],
  ])('finds in %s', (text, doubt) => {
    expect(doubtsOf(text)).toStrictEqual([doubt]);
  });

  it('finds nothing in a plain policy, and compares nothing without a catalog', () => {
    const text = 'roles: { ops: [ann] }\npermissions: { "*": { allow: ["*"] }, shell.run: { allow: ["role:ops"] } }';
    expect(doubtsOf(text)).toStrictEqual([]);
    expect(findPolicyDoubts(read('permissions: { a.b: {} }').policy, undefined, nearNames)).toStrictEqual([]);
  });
});
