import { writeFileSync } from 'node:fs';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { failOnLeaks } from '../support/reaper.ts';
import type { WatchedProcess } from '../support/watched-process.ts';
import { planeFolder, type PlaneFolder } from './plane-folder.ts';
import { runCli } from './run-cli.ts';

let plane: PlaneFolder;
let dev: WatchedProcess;
beforeAll(async () => {
  plane = planeFolder();
  dev = await plane.start('dev');
});
afterAll(async () => {
  await dev.stop();
  plane.remove();
  failOnLeaks();
});

const write = (value: unknown, name = 'agent.json'): string => {
  writeFileSync(plane.file(name), typeof value === 'string' ? value : JSON.stringify(value));
  return name;
};
const OPEN = { permissions: { '*': { allow: ['*'] } } };
const echo = (agent: string) => plane.call('basic.echo', { text: 'x' }, '--agent', agent);
const storedAgents = async (): Promise<unknown> =>
  ((await plane.json('policy', 'show'))['policy'] as { agents?: unknown }).agents;

beforeEach(async () => {
  await plane.cli('policy', 'set', write({ ...OPEN, agents: null, tenants: null }, 'policy.json'));
});

describe('sallyport agents', () => {
  it('set declares an agent for the next call, warns that the others have nothing, and remove takes it away', async () => {
    expect((await plane.cli('agents')).stderr).toContain('No agents are declared');
    expect((await echo('anybody')).code).toBe(0);
    const set = await plane.cli('agents', 'set', 'main', write([{ module: 'basic', tools: ['echo'] }]));
    expect(set.code).toBe(0);
    expect(set.stderr).toContain('main is the first agent: all others have no tools until they are declared too');
    expect((await echo('main')).code).toBe(0);
    const refused = await echo('anybody');
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain('denied (NOT_SELECTED');
    expect((await plane.call('basic.privileged', {}, '--agent', 'main')).stderr).toContain('denied (NOT_SELECTED');
    const removed = await plane.cli('agents', 'remove', 'main');
    expect(removed.stderr).toContain('no agent is declared any more: none has tools');
    expect((await echo('main')).code).toBe(1);
    expect(await storedAgents()).toStrictEqual({});
  });

  it('set, list, show, explain and remove say for which tenant an agent is declared', async () => {
    await plane.cli('agents', 'set', 'main', write([{ module: 'basic', tools: 'all' }]));
    const own = write([{ module: 'basic', tools: ['fails'] }], 'own.json');
    const set = await plane.cli('agents', 'set', 'main', own, '--tenant', 'acme');
    expect(set.stdout).toMatch(/Agent main of tenant acme stands in policy version \d+\./);
    const inAcme = await plane.call('basic.echo', { text: 'x' }, '--agent', 'main', '--tenant', 'acme');
    expect(inAcme.stderr).toContain('denied (NOT_SELECTED');
    expect((await echo('main')).code).toBe(0);
    const list = (await plane.cli('agents', 'list')).stdout;
    expect(list).toMatch(/main +every +1 /);
    expect(list).toMatch(/main +acme +1 +1/);
    expect((await plane.cli('agents', 'show', 'main', '--tenant', 'acme')).stdout).toContain('main of tenant acme\n');
    const explained = await plane.cli('explain', 'main', 'basic.echo', '--tenant', 'acme');
    expect(explained.stdout).toContain('agent main of tenant acme did not select it');
    expect(explained.stdout).toContain('decides: tenants acme agents main selection in policy version');
    expect(explained.stdout).toContain('sallyport agents set main - --tenant acme');
    const removed = await plane.cli('agents', 'remove', 'main', '--tenant', 'acme');
    expect(removed.stdout).toContain('Agent main of tenant acme is gone');
    expect((await plane.cli('agents', 'remove', 'main', '--tenant', 'acme')).stderr).toContain(
      'There is no agent "main of tenant acme"',
    );
    const wrong = await plane.cli('agents', 'set', 'main', own, '--tenant', 'a/b');
    expect(wrong).toMatchObject({ code: 2, stderr: expect.stringContaining('a tenant has no slash') as string });
  });

  it('set takes a declaration, a selection in either form, a file in YAML and standard input', async () => {
    const selection = [{ module: 'basic', tools: ['echo'] }];
    await plane.cli('agents', 'set', 'a', write({ description: 'The first.', selection }));
    await plane.cli(
      'agents',
      'set',
      'b',
      write('- { setup_id: basic, triggers: { echo: true, late: false } }\n', 'b.yaml'),
    );
    const piped = await runCli(['agents', 'set', 'c', '-', '--json'], {
      cwd: plane.path,
      input: JSON.stringify([...selection, { module: 'basic', tools: { echo: true } }]),
    });
    expect(JSON.parse(piped.stdout)).toMatchObject({
      changed: true,
      name: 'c',
      selection,
      warnings: ['agents.c has several entries for module basic; together they select echo'],
    });
    expect(await storedAgents()).toStrictEqual({
      a: { description: 'The first.', selection },
      b: { selection },
      c: { selection },
    });
    expect(await plane.json('agents', 'list')).toMatchObject({
      selecting: true,
      agents: [
        { name: 'a', modules: 1, tools: 1, description: 'The first.' },
        { name: 'b', modules: 1, tools: 1 },
        { name: 'c', modules: 1, tools: 1 },
      ],
    });
    expect(await plane.json('agents', 'set', 'a', 'agent.json')).toMatchObject({ changed: false });
  });

  it('set warns of names that are not published, and of a selection that matches nothing', async () => {
    const set = await plane.cli(
      'agents',
      'set',
      'main',
      write([
        { module: 'basic', tools: ['eco'] },
        { module: 'basik', tools: 'all' },
      ]),
    );
    expect(set.code).toBe(0);
    expect(set.stderr).toContain('agents.main selects basic.eco, which is not published, did you mean basic.echo?');
    expect(set.stderr).toContain('agents.main selects module basik, which is not published, did you mean basic?');
    expect(set.stderr).toContain('agents.main has no tools: its selection matches nothing that is published');
  });

  it('set refuses what it does not understand, with its place, and changes nothing', async () => {
    const unread = await plane.cli('agents', 'set', 'main', write('- { module: basic, tool: all }\n', 'bad.yaml'));
    expect(unread).toMatchObject({ code: 78, stdout: '' });
    expect(unread.stderr).toContain('bad.yaml:1:20: unknown key "tool" in 0, did you mean "tools"?');
    expect((await plane.cli('agents', 'set', 'main', 'nowhere.json')).code).toBe(78);
    const piped = await runCli(['agents', 'set', 'main', '-'], { cwd: plane.path, input: '[' });
    expect(piped).toMatchObject({ code: 78, stdout: '' });
    for (const name of ['', '__proto__', 'a\u0007', 'x'.repeat(257)]) {
      expect((await plane.cli('agents', 'set', name, 'agent.json')).code).toBe(2);
    }
    expect((await plane.cli('agents', 'set', 'main')).code).toBe(2);
    expect(await storedAgents()).toBeUndefined();
  });

  it('show lists what an agent has for a subject, and why it lacks the rest', async () => {
    const agents = {
      main: {
        selection: [
          { module: 'basic', tools: ['echo', 'fails', 'nothing', 'privileged'] },
          { module: 'gone', tools: 'all' },
        ],
      },
    };
    const permissions = { '*': { allow: ['*'] }, 'basic.fails': { deny: ['eve'] } };
    await plane.cli('policy', 'set', write({ permissions, agents }, 'policy.json'));
    expect(await plane.json('agents', 'show', 'main', '--subject', 'eve')).toMatchObject({
      agent: 'main',
      subject: 'eve',
      selecting: true,
      ...agents.main,
      tools: ['basic.echo'],
      missing: expect.arrayContaining([
        { tool: 'basic.fails', reason: 'denied' },
        { tool: 'basic.nothing', reason: 'unknown-name' },
        { tool: 'basic.privileged', reason: 'no-permission' },
        { tool: 'gone.*', reason: 'module-absent' },
      ]) as unknown[],
    });
    const shown = await plane.cli('agents', 'show', 'main');
    expect(shown.stdout).toMatch(/^2 tools for local, by policy version \d+\n {2}basic\.echo\n {2}basic\.fails$/m);
    expect(shown.stdout).toMatch(/gone\.\* +selected, but no such module is published/);
    const one = await plane.cli('agents', 'show', 'main', '--subject', 'eve');
    expect(one.stdout).toMatch(/^1 tool for eve, by policy version \d+\n {2}basic\.echo$/m);
    const unknown = await plane.cli('agents', 'show', 'mian');
    expect(unknown).toMatchObject({ code: 1, stdout: '' });
    expect(unknown.stderr).toContain('Did you mean main?');
    expect((await plane.cli('agents', 'remove', 'mian')).code).toBe(1);
  });

  it('policy set leaves the agents as they are when its file says nothing of them', async () => {
    await plane.cli('agents', 'set', 'main', write([{ module: 'basic', tools: 'all' }]));
    const before = await storedAgents();
    await plane.cli('pause', 'agent', 'x');
    const set = await plane.cli('policy', 'set', write(OPEN, 'policy.json'));
    expect(set.code).toBe(0);
    expect(set.stderr).toContain('Kept as before, because the file does not have them: paused, agents.');
    expect(await storedAgents()).toStrictEqual(before);
    expect((await plane.cli('pause')).stdout).toBe('Paused: agents x.\n');
    await plane.cli('pause', '--resume');
    const shown = await plane.cli('policy', 'show');
    await plane.cli('policy', 'set', write({ ...OPEN, agents: null }, 'policy.json'));
    expect(await storedAgents()).toBeUndefined();
    const again = await plane.cli('policy', 'set', write(shown.stdout, 'again.json'));
    expect(again.stderr).toContain('main is the first agent: all others have no tools until they are declared too');
    expect(await storedAgents()).toStrictEqual(before);
  });
});
