import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { nearNames } from '../base/near-names.ts';
import { PlaneError } from '../domain/errors/errors.ts';
import { loadConfig, type ConfigRequest } from './load-config.ts';
import { showConfig } from './show-config.ts';

let cwd: string;
beforeEach(() => void (cwd = mkdtempSync(join(tmpdir(), 'sallyport-hooks-config-'))));
afterEach(() => rmSync(cwd, { recursive: true, force: true }));

const write = (hooks: string): void => writeFileSync(join(cwd, 'sallyport.yaml'), `worker:\n  hooks:\n${hooks}`);
const load = (more: Partial<ConfigRequest> = {}) => loadConfig({ env: {}, cwd, near: nearNames, ...more });
function problemOf(more: Partial<ConfigRequest> = {}): string {
  try {
    load(more);
  } catch (error) {
    if (!(error instanceof PlaneError) || error.code !== 'CONFIG_INVALID') throw error;
    return error.message.replaceAll(`${cwd}/`, '').replace('The configuration cannot be used: ', '');
  }
  throw new Error('The configuration was accepted.');
}

describe('hooks in a configuration', () => {
  it('are files and commands, relative to the file that names them', () => {
    write(`    - { file: ./guard.mjs, timeoutMs: 2000, priority: 5 }
    - command: [node, guard.mjs]
      on: before_tool_call
      tools: [files.*]
      effects: [unsafe]
      env: [GUARD_TOKEN]
    - { command: [/bin/audit], on: after_tool_call, cwd: logs, id: audit }
`);
    expect(load({ cwd: '/', file: join(cwd, 'sallyport.yaml') }).config.worker.hooks).toStrictEqual([
      { file: join(cwd, 'guard.mjs'), timeoutMs: 2000, priority: 5 },
      {
        command: ['node', 'guard.mjs'],
        on: 'before_tool_call',
        tools: ['files.*'],
        effects: ['unsafe'],
        env: ['GUARD_TOKEN'],
        cwd,
      },
      { command: ['/bin/audit'], on: 'after_tool_call', cwd: join(cwd, 'logs'), id: 'audit' },
    ]);
  });

  it('are none without', () => {
    expect(load().config.worker.hooks).toBeUndefined();
    expect(showConfig(load()).find(({ option }) => option === 'worker.hooks')).toMatchObject({ otherwise: 'none' });
  });

  it('can stand in the environment as JSON, relative to the working directory', () => {
    const env = { SALLYPORT_WORKER_HOOKS: '[{"file": "guard.mjs"}]' };
    expect(load({ env }).config.worker.hooks).toStrictEqual([{ file: join(cwd, 'guard.mjs') }]);
    expect(problemOf({ env: { SALLYPORT_WORKER_HOOKS: 'guard.mjs' } })).toBe(
      'SALLYPORT_WORKER_HOOKS: expected a list of { file } or { command, on }.',
    );
  });

  it.each([
    ['    - { fiel: x }\n', 'sallyport.yaml:3:9: unknown key "fiel" in worker.hooks.0, did you mean "file"?'],
    ['    - { file: x, onTimeout: allow }\n', 'sallyport.yaml:3:18: unknown key "onTimeout" in worker.hooks.0'],
    ['    - {}\n', 'sallyport.yaml:3:7: worker.hooks.0: expected file, or command and on.'],
    ['    - { command: [x] }\n', 'sallyport.yaml:3:7: worker.hooks.0: expected file, or command and on.'],
    [
      '    - { file: x, tools: [a.b] }\n',
      'sallyport.yaml:3:7: worker.hooks.0: tools cannot stand beside file: the plugin says it.',
    ],
    [
      '    - { command: guard, on: before_tool_call }\n',
      'sallyport.yaml:3:18: worker.hooks.0.command: expected a list: the program, then its arguments.',
    ],
    [
      '    - { command: [x], on: PreToolUse }\n',
      'sallyport.yaml:3:27: worker.hooks.0.on: expected one of before_tool_call, tool_result, after_tool_call, approval_resolved.',
    ],
    ['    - { file: x, timeoutMs: 700000 }\n', /^sallyport\.yaml:3:29: worker\.hooks\.0\.timeoutMs: /],
    [
      '    file: x\n',
      'sallyport.yaml:3:5: worker.hooks: expected a list of { file } or { command, on }, found a group.',
    ],
  ])('are refused: %j', (hooks, problem) => {
    write(hooks);
    expect(problemOf()).toMatch(problem);
  });
});
