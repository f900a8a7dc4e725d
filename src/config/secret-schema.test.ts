import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { PlaneError } from '../domain/errors/errors.ts';
import { nearNames } from '../base/near-names.ts';
import { loadConfig } from './load-config.ts';
import { readPolicyFile } from '../gate/policy/policy-file.ts';

let cwd: string;
beforeEach(() => void (cwd = mkdtempSync(join(tmpdir(), 'sallyport-secrets-config-'))));
afterEach(() => rmSync(cwd, { recursive: true, force: true }));

const load = (providers: string) => {
  writeFileSync(join(cwd, 'sallyport.yaml'), `secrets:\n  providers:\n${providers}`);
  return loadConfig({ env: {}, cwd, near: nearNames }).config.secrets.providers;
};
function problemOf(work: () => unknown): string {
  try {
    work();
  } catch (error) {
    if (!(error instanceof PlaneError)) throw error;
    return error.message;
  }
  throw new Error('It was accepted.');
}

describe('providers of secrets in a configuration', () => {
  it('are variables, files, folders and commands, relative to the file that names them', () => {
    expect(
      load(`    - environment: [A, B]
    - environmentPrefix: TOOL_
    - folder: keys
    - { name: C, file: c.key }
    - { name: D, command: [cat, d], timeoutMs: 100, cacheMs: 0, env: [X] }
`),
    ).toStrictEqual([
      { environment: ['A', 'B'] },
      { environmentPrefix: 'TOOL_' },
      { folder: join(cwd, 'keys') },
      { name: 'C', file: join(cwd, 'c.key') },
      { cwd, name: 'D', command: ['cat', 'd'], timeoutMs: 100, cacheMs: 0, env: ['X'] },
    ]);
  });

  it.each([
    ['- { name: lower, file: x }', 'expected the name of a secret'],
    ['- { name: A }', 'expected environment, environmentPrefix, folder'],
    ['- { name: A, file: x, command: [y] }', 'expected environment, environmentPrefix, folder'],
    ['- { environment: [A], timeoutMs: 5 }', 'timeoutMs need a command'],
    ['- { environmentPrefix: A }', 'expected the beginning of variables'],
    ['- { name: A, value: x }', 'value'],
    ['- { environment: [A] }\n    - { name: A, file: x }', 'has A twice'],
  ])('are refused: %s', (entry, problem) => {
    expect(problemOf(() => load(`    ${entry}\n`))).toContain(problem);
  });
});

describe('secrets in a policy', () => {
  const read = (text: string) => {
    writeFileSync(join(cwd, 'policy.yaml'), text);
    return readPolicyFile(join(cwd, 'policy.yaml'), nearNames);
  };

  it('are names and beginnings of names, by agent', () => {
    const file = read('secrets:\n  main: [A, MAIL_*]\n  "*": ["*"]\n');
    expect(file.policy.secrets).toStrictEqual({ main: ['A', 'MAIL_*'], '*': ['*'] });
    expect(file.partsSet).toStrictEqual(['secrets']);
  });

  it('are refused when they are no names', () => {
    expect(problemOf(() => read('secrets:\n  main: [lower]\n'))).toContain('expected a name like GITHUB_TOKEN');
  });
});
