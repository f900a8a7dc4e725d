import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hookedCall, recordingNeeds } from '../../../test/support/sample-hooks.ts';
import { nearNames } from '../../base/near-names.ts';
import { PlaneError } from '../../domain/errors/errors.ts';
import type { HookedTool } from '../../domain/policy/hook.ts';
import type { CommandHookSource } from './command-hook.ts';
import { defineHooks, type HookPlugin } from './define-hooks.ts';
import type { HookCatalog } from './find-match-problems.ts';
import { loadHooks, registerPlugins, type HookSource } from './load-hooks.ts';
import { runBeforeHooks } from './run-before-hooks.ts';

let folder: string;
beforeAll(() => void (folder = mkdtempSync(join(tmpdir(), 'sallyport-hooks-'))));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let files = 0;
function plugin(text: string): string {
  files += 1;
  const file = join(folder, `plugin-${files}.mjs`);
  writeFileSync(file, text);
  return file;
}
const tool = (id: string, effect: HookedTool['effect']): HookedTool => ({ id, effect, privileged: false });
const CATALOG: HookCatalog = {
  tools: [tool('files.write', 'unsafe'), tool('files.read', 'read'), tool('web.fetch', 'read')],
  near: nearNames,
};

async function problemsOf(
  sources: readonly HookSource[],
  catalog: HookCatalog | undefined = CATALOG,
): Promise<string[]> {
  try {
    await loadHooks(sources, catalog);
  } catch (error) {
    if (!(error instanceof PlaneError) || error.code !== 'HOOKS_INVALID') throw error;
    return (error.facts['problems'] as string[]).map((problem) => problem.replaceAll(`${folder}/`, ''));
  }
  throw new Error('the hooks were accepted');
}
const ofHook = async (members: string): Promise<string[]> => {
  const file = plugin(
    `export default { id: 'guard', hooks: [{ id: 'h', on: 'before_tool_call', run() {}, ${members} }] };`,
  );
  const problems = await problemsOf([{ file }]);
  return problems.map((problem) => problem.replace(/^plugin-\d+\.mjs: hook h: /, ''));
};

describe('loading hooks', () => {
  it('registers those of a file under the id of the plugin, with what the operator sets before what the plugin says', async () => {
    const file = plugin(`export default { id: 'guard', hooks: [
      { id: 'first', on: 'before_tool_call', tools: ['files.*'], timeoutMs: 100, priority: 3, run: () => ({ block: true }) },
      { id: 'second', on: 'after_tool_call', effects: ['read'], run() {} },
    ] };`);
    const own = await loadHooks([{ file }], CATALOG);
    expect(own.hooks.map(({ id, on, timeoutMs, priority }) => ({ id, on, timeoutMs, priority }))).toStrictEqual([
      { id: 'guard.first', on: 'before_tool_call', timeoutMs: 100, priority: 3 },
      { id: 'guard.second', on: 'after_tool_call', timeoutMs: 15_000, priority: 0 },
    ]);
    const set = await loadHooks([{ file, timeoutMs: 2000, priority: -1 }], CATALOG);
    expect(set.hooks.map(({ timeoutMs, priority }) => [timeoutMs, priority])).toStrictEqual([
      [2000, -1],
      [2000, -1],
    ]);
    expect(runBeforeHooks(set, hookedCall(), recordingNeeds())).toMatchObject({ kind: 'blocked', hook: 'guard.first' });
  });

  it('keeps `this` of a hook', async () => {
    const file = plugin(`export default { id: 'guard', hooks: [
      { id: 'h', on: 'before_tool_call', run() { return { block: true, reason: 'I am ' + this.id }; } },
    ] };`);
    expect(runBeforeHooks(await loadHooks([{ file }], CATALOG), hookedCall(), recordingNeeds())).toMatchObject({
      reason: 'I am h',
    });
  });

  it('takes what defineHooks makes', () => {
    const defined: HookPlugin = defineHooks({
      id: 'typed',
      hooks: [
        { id: 'h', on: 'before_tool_call', run: ({ tool: id }) => ({ block: true, reason: id }) },
        { id: 'o', on: 'after_tool_call', run: ({ outcome }) => void outcome.kind },
        { id: 'r', on: 'approval_resolved', run: ({ resolution }) => void resolution },
      ],
    });
    expect(registerPlugins([defined]).hooks.map(({ id }) => id)).toStrictEqual(['typed.h', 'typed.o', 'typed.r']);
  });
});

describe('hooks that cannot be used', () => {
  it('are all reported at once, with file and hook', async () => {
    const one = plugin(`export default { id: 'a b', hooks: [] };`);
    const two = plugin(
      `export default { id: 'guard', hooks: [{ id: 'x', on: 'before_tool', run: 1 }, { on: 'after_tool_call' }, 7] };`,
    );
    const three = plugin(`throw new Error('no database at postgres://u:pw@db');`);
    const four = plugin('export const hooks = [];');
    const gone = join(folder, 'gone.mjs');
    const problems = await problemsOf([one, two, three, four, gone].map((file) => ({ file })));
    expect(problems).toStrictEqual([
      expect.stringMatching(/^plugin-\d+\.mjs: id: expected a name/),
      expect.stringMatching(/^plugin-\d+\.mjs: hooks: has no hooks/),
      expect.stringMatching(
        /: hook x: on: expected one of before_tool_call, tool_result, after_tool_call, approval_resolved$/,
      ),
      expect.stringMatching(/: hook x: run: expected a function$/),
      expect.stringMatching(/: hook 2: id: /),
      expect.stringMatching(/: hook 2: run: expected a function$/),
      expect.stringMatching(/: hook 3: expected a hook: \{ id, on, run \}$/),
      expect.stringMatching(/^plugin-\d+\.mjs: it cannot be loaded: Error: no database at postgres:\/\/u:\*\*\*@db$/),
      expect.stringMatching(/^plugin-\d+\.mjs: it has no hooks as its default export/),
      expect.stringMatching(/^gone\.mjs: it cannot be loaded: /),
    ]);
  });

  it.each(['onTimeout', 'timeoutBehavior', 'failOpen', 'onError', 'allowOnFailure'])(
    'are those with %s: there is no hook that lets calls through when it fails',
    async (key) => {
      expect(await ofHook(`${key}: 'allow'`)).toStrictEqual([
        `"${key}" is not possible: a hook that fails or takes too long always blocks`,
      ]);
    },
  );

  it.each([
    ["matcher: 'x'", 'unknown key "matcher"'],
    ['timeoutMs: 0', /^timeoutMs: .+/],
    ['timeoutMs: 600001', /^timeoutMs: .+/],
    ["priority: 'high'", /^priority: .+/],
    ['tools: []', 'tools: the list is empty, so it can never fire; leave tools out to match all'],
    ["tools: 'files.write'", 'tools: expected a list'],
    ["tools: ['']", 'tools.0: expected module.tool, module.* or *'],
    ["tools: ['files.wri*']", 'tools.0: expected module.tool, module.* or *'],
    ["tools: ['files.wrote']", 'tools: there is no tool files.wrote (did you mean files.write?)'],
    ["tools: ['bash']", 'tools: there is no tool bash'],
    ["tools: ['shell.*']", 'tools: there is no tool of the module shell'],
    ['effects: []', 'effects: the list is empty, so it can never fire; leave effects out to match all'],
    ["effects: ['write']", 'effects.0: expected one of read, idempotent, unsafe'],
    ["effects: ['read', 'idempotent']", 'effects: no tool that is loaded is idempotent'],
    ["tools: ['web.*'], effects: ['unsafe']", 'it can never fire: no tool matches all it names'],
  ])('are refused for %s', async (members, problem) => {
    const problems = await ofHook(members);
    expect(problems).toHaveLength(1);
    expect(problems[0]!.replace(problem, '')).toBe('');
  });

  it('are not those for a broken module, because its tools are unknown', async () => {
    const file = plugin(`export default { id: 'guard', hooks: [
      { id: 'a', on: 'before_tool_call', tools: ['shell.run'], effects: ['idempotent'], run() {} },
      { id: 'b', on: 'before_tool_call', effects: ['idempotent'], run() {} },
    ] };`);
    const set = await loadHooks([{ file }], { ...CATALOG, brokenModules: ['shell'] });
    expect(set.hooks).toHaveLength(2);
  });

  it('are two with the same id, and two commands of the same name', async () => {
    const text = `export default { id: 'guard', hooks: [{ id: 'h', on: 'before_tool_call', run() {} }] };`;
    expect(await problemsOf([{ file: plugin(text) }, { file: plugin(text) }])).toStrictEqual([
      'there are several hooks guard.h; give each an id of its own',
    ]);
    const command: CommandHookSource = { command: ['node', './a/guard.mjs', '--strict'], on: 'before_tool_call' };
    expect(await problemsOf([command, { ...command, command: ['python3', 'b/guard.py'] }])).toStrictEqual([
      'there are several hooks guard; give each an id of its own',
    ]);
  });

  it('are commands for missing tools, without a usable name, or with variables that are not set', async () => {
    const command: CommandHookSource = { command: ['/usr/bin/[', 'x'], on: 'before_tool_call', tools: ['files.wrote'] };
    expect(await problemsOf([{ ...command, env: ['SALLYPORT_TEST_NOT_SET'] }])).toStrictEqual([
      'command [: tools: there is no tool files.wrote (did you mean files.write?)',
      'command [: give it an id: letters, digits, _ and -, at most 64',
      'command [: env: the environment has no SALLYPORT_TEST_NOT_SET',
    ]);
  });
});
