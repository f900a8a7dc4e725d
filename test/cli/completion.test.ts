import { execFileSync, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createProgram } from '../../src/cli/program.ts';
import { commandTree } from '../../src/cli/completion/command-tree.ts';
import { temporaryFolder, type TemporaryFolder } from '../support/process.ts';
import { runCli } from './run-cli.ts';

const SHELLS = ['bash', 'zsh', 'fish'] as const;
type Shell = (typeof SHELLS)[number];

let folder: TemporaryFolder;
const scripts = {} as Record<Shell, string>;
const file = (shell: Shell): string => `${folder.path}/sallyport.${shell}`;
beforeAll(async () => {
  folder = temporaryFolder('sallyport-completion');
  for (const shell of SHELLS) {
    const { code, stdout, stderr } = await runCli(['completion', shell], { cwd: folder.path });
    if (code !== 0 || stderr !== '') throw new Error(`completion ${shell} ended with ${code}: ${stderr}`);
    scripts[shell] = stdout;
    writeFileSync(file(shell), stdout);
  }
});
afterAll(() => folder.remove());

const isInstalled = (shell: Shell): boolean => spawnSync(shell, ['-c', 'exit 0']).status === 0;

/** What bash offers for the last word of a line. */
function offeredByBash(...words: string[]): string[] {
  const line = ['sallyport', ...words];
  const array = line.map((word) => `'${word}'`).join(' ');
  const script = `source '${file('bash')}'; COMP_WORDS=(${array}); COMP_CWORD=${line.length - 1}; _sallyport; printf '%s\\n' "\${COMPREPLY[@]}"`;
  return execFileSync('bash', ['--norc', '--noprofile', '-c', script], { encoding: 'utf8' })
    .split('\n')
    .filter((word) => word !== '');
}

function offeredByFish(line: string): string[] {
  const script = `source ${file('fish')}; complete -C '${line}'`;
  return execFileSync('fish', ['--no-config', '-c', script], { encoding: 'utf8' })
    .split('\n')
    .map((each) => each.split('\t')[0]!)
    .filter((word) => word !== '');
}

describe('completion in bash', () => {
  it.each([
    [['tok'], ['tokens']],
    [
      ['calls', ''],
      ['list', 'show', 'wait', 'cancel', 'resolve'],
    ],
    [['--folder', 'x', 'calls', 'sh'], ['show']],
    [['calls', 'list', '--sta'], ['--state']],
    [['calls', 'list', '--state', 'r'], ['running']],
    [['calls', '--folder', 'list', 'wa'], ['wait']],
    [['audit', 'query', '--event', 'approval.req'], ['approval.requested']],
    [
      ['--store', ''],
      ['embedded', 'redis'],
    ],
    [
      ['pause', ''],
      ['agent', 'tool', 'all'],
    ],
    [
      ['tokens', 'create', 'ci', '--scope', ''],
      ['agent', 'operator', 'approver', 'sessions', 'admin'],
    ],
    [['tokens', 'create', 'ci', '--scope', 'agent', '--scope', 'op'], ['operator']],
    [
      ['gateway', 'login-link', '--scope', 'a'],
      ['approver', 'admin'],
    ],
    [['messages', 'list', '--state', 'fa'], ['failed']],
    [['approvals', 'decide', 'some-id', 'allow-o'], ['allow-once']],
    [
      ['completion', ''],
      ['bash', 'zsh', 'fish'],
    ],
    [['call', 'clock.now', '--tok'], []],
    [['help', 'exit'], ['exit-codes']],
    [['help', 'tok'], ['tokens']],
  ])('offers for %j exactly %j', (words, expected) => {
    expect(offeredByBash(...words)).toStrictEqual(expected);
  });

  it('offers every command, every subcommand and every visible option of the program', async () => {
    for (const { path, subcommands, options, argumentChoices } of commandTree(await createProgram())) {
      const words = path === '' ? [] : path.split(' ');
      const names = subcommands.map(({ name }) => name);
      expect(offeredByBash(...words, '')).toStrictEqual([...names, ...(argumentChoices[0] ?? [])]);
      expect(offeredByBash(...words, '--')).toStrictEqual(options.map(({ name }) => name));
    }
  });

  it('offers the values that the description of an option lists', async () => {
    const listing = commandTree(await createProgram()).flatMap(({ path, options }) =>
      options.flatMap(({ name, description, choices }) => {
        const listed = /\bone of ((?:[a-z][a-z-]*, )+[a-z-]+)/.exec(description)?.[1];
        return listed === undefined ? [] : [{ option: `${path} ${name}`, listed: listed.split(', '), choices }];
      }),
    );
    expect(listing.filter(({ listed, choices }) => !listed.every((word) => choices.includes(word)))).toEqual([]);
    expect(listing.map(({ option }) => option)).toContain('messages list --state');
  });

  it('is registered for the program under its name', () => {
    const shown = execFileSync('bash', ['--norc', '-c', `source '${file('bash')}'; complete -p sallyport`], {
      encoding: 'utf8',
    });
    expect(shown.trim()).toBe('complete -o default -F _sallyport sallyport');
  });
});

describe('completion in zsh and fish', () => {
  it.each(['zsh', 'fish'] as const)('names every command and option for %s', async (shell) => {
    for (const { path, options } of commandTree(await createProgram())) {
      expect(scripts[shell]).toContain(path);
      for (const { name } of options) expect(scripts[shell]).toContain(shell === 'fish' ? `-l ${name.slice(2)}` : name);
    }
  });

  it.skipIf(!isInstalled('zsh'))('is a script that zsh can read', () => {
    expect(spawnSync('zsh', ['-n', file('zsh')], { encoding: 'utf8' })).toMatchObject({ status: 0, stderr: '' });
  });

  it.skipIf(!isInstalled('fish')).each([
    ['sallyport tok', ['tokens']],
    ['sallyport calls sh', ['show']],
    ['sallyport calls list --state r', ['running']],
    ['sallyport --folder x pause ', ['agent', 'all', 'tool']],
  ])('fish offers for "%s" exactly %j', (line, expected) => {
    expect(offeredByFish(line)).toStrictEqual(expected);
  });
});
