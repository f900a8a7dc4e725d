import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { spawnNode, temporaryFolder, type TemporaryFolder } from '../support/process.ts';
import { startRedis } from '../support/redis-server.ts';
import type { WatchedProcess } from '../support/watched-process.ts';
import { TOP } from './pages.ts';

const built = (path: string): string => join(TOP, 'dist', path);
/** Unsets the settings of this machine, so that they cannot change the results of the tests. */
const env = Object.fromEntries(
  Object.keys(process.env)
    .filter((name) => name.startsWith('SALLYPORT_') || name.startsWith('npm_'))
    .map((name) => [name, undefined]),
);

describe('the examples of the pages', () => {
  let folder: TemporaryFolder;
  let dev: WatchedProcess;

  beforeAll(async () => {
    folder = temporaryFolder('sallyport-docs');
    const documented = ['dice', 'reports', 'handbook', 'trips'].map((name) => `docs/modules/${name}.js`);
    const files = ['modules/clock/index.js', ...documented];
    const modules = files.map((file) => ({ file: built(`examples/${file}`) }));
    writeFileSync(join(folder.path, 'modules.json'), JSON.stringify({ modules }));
    dev = await spawnNode(built('cli/main.js'), ['dev', '--modules', 'modules.json'], { cwd: folder.path, env });
    await dev.waitForLine(/Try in a second terminal/);
  });
  afterAll(async () => {
    await dev.stop();
    folder.remove();
  });

  async function run(script: string, ...args: string[]) {
    const started = await spawnNode(built(script), args, { cwd: folder.path, env });
    const { code } = await started.exited;
    return { code, stdout: started.stdout, stderr: started.stderr };
  }
  const call = (tool: string, args: object, ...flags: string[]) =>
    run('cli/main.js', 'call', tool, JSON.stringify(args), '--json', ...flags);
  const outcomeOf = ({ stdout }: { stdout: string }) => (JSON.parse(stdout) as { outcome: object }).outcome;

  it('call a tool in nine lines', async () => {
    const { code, stdout } = await run('examples/docs/call-a-tool.js');
    expect(stdout).toContain("timeZone: 'Europe/Paris'");
    expect(code).toBe(0);
  });

  it('call with keys, patience, events and abort', async () => {
    const { code, stdout, stderr } = await run('examples/docs/client-calls.js');
    expect(stderr).toBe('');
    expect(stdout.split('\n')).toEqual(
      expect.arrayContaining([
        'replayed true',
        'waited settled',
        expect.stringMatching(/^progress \d+ of 1200$/),
        'watched settled',
        'stopped cancelled: it may have run; check before you repeat it',
        'tools true',
        'patient done',
        'revoked unauthenticated (SESSION_REVOKED): The session was revoked.',
      ]),
    );
    expect(code).toBe(0);
  });

  it('answer a tool that asks, read a resource and get a prompt', async () => {
    const { code, stdout, stderr } = await run('examples/docs/answer-a-tool.js');
    expect(stderr).toBe('');
    for (const shown of [
      'Which class to Lyon?',
      'Booked to Lyon, second class.',
      "'handbook://index', 'handbook://pages/{page}'",
      'Trips of up to 500 euros need no approval.',
      "[ 'handbook.explain' ]",
      'Explain this to somebody who is new here:',
      "values: [ 'travel' ]",
    ])
      expect(stdout).toContain(shown);
    expect(code).toBe(0);
  });

  it('answer a tool from a terminal', async () => {
    const asked = await run('cli/main.js', 'call', 'trips.book', '{"to":"Lyon"}', '--subject', 'ada');
    expect(asked.stderr).toContain('asks for comfort: {"kind":"elicit","message":"Which class to Lyon?"');
    expect(asked.code).toBe(1);
    const answers = { comfort: { action: 'accept', content: { class: 'third' } } };
    const wrong = await call('trips.book', { to: 'Lyon' }, '--answers', JSON.stringify(answers));
    expect(outcomeOf(wrong)).toMatchObject({
      error: { code: 'INPUT_REQUIRED', facts: { problems: { comfort: ['class is none of the choices'] } } },
    });
    answers.comfort.content.class = 'first';
    const booked = await call('trips.book', { to: 'Lyon' }, '--answers', JSON.stringify(answers));
    expect(outcomeOf(booked)).toMatchObject({ content: [{ text: 'Booked to Lyon, first class.' }] });
  });

  it('listen for diagnostic events', async () => {
    const { code, stdout, stderr } = await run('examples/docs/watch-events.js');
    expect(stderr).toBe('');
    expect(stdout.split('\n')).toEqual(
      expect.arrayContaining([
        expect.stringMatching(/^\d+ call\.accepted clock\.now$/),
        expect.stringMatching(/^\d+ call\.answered clock\.now$/),
        expect.stringMatching(/^\d+ call\.refused undefined$/),
        'counted {"call.answered":1,"call.refused":1}',
      ]),
    );
    expect(code).toBe(0);
  });

  it('declare agents, and take one away', async () => {
    const { code, stdout } = await run('examples/docs/declare-agents.js');
    // The agents of the other examples are not declared. They have tools only while the policy declares no agents.
    writeFileSync(
      join(folder.path, 'open.json'),
      JSON.stringify({ permissions: { '*': { allow: ['*'] } }, agents: null }),
    );
    expect((await run('cli/main.js', 'policy', 'set', 'open.json')).code).toBe(0);
    expect(stdout.split('\n')).toEqual([
      'agents that are not declared have no tools from now on',
      'declared true assistant,archivist',
      'removed archivist',
      '',
    ]);
    expect(code).toBe(0);
  });

  it('write, read, count, export and stamp reports', async () => {
    const written = await call('reports.write', { name: 'may', text: 'all is well' });
    expect(outcomeOf(written)).toMatchObject({ kind: 'ok', structured: { name: 'may', characters: 11 } });
    const read = await call('reports.read', { name: 'may' });
    expect(outcomeOf(read)).toMatchObject({ kind: 'ok', content: [{ kind: 'text', text: 'all is well' }] });
    expect(outcomeOf(await call('reports.check', { names: ['may'] }))).toMatchObject({ structured: { words: 3 } });
    expect(outcomeOf(await call('reports.stamp', { name: 'now' }))).toMatchObject({ structured: { written: true } });
    const exported = await call('reports.export', { name: 'may' }, '--save', 'saved');
    expect(outcomeOf(exported)).toMatchObject({
      structured: { bytes: 11 },
      writeBacks: { messages: [{ format: 'card' }], injectedTools: [{ tool: 'reports.read' }] },
    });
    expect(readFileSync(join(folder.path, 'saved/may.md'), 'utf8')).toBe('all is well');
  });

  it.each([
    [{ name: 'gone' }, { kind: 'failed', executed: 'yes', error: { facts: { code: 'REPORT_NOT_FOUND' } } }],
    [{ name: 'board-may' }, { kind: 'denied', executed: 'yes', error: { code: 'TOOL_DENIED' } }],
    [{ name: 'UP' }, { kind: 'invalid', executed: 'no', error: { code: 'ARGUMENTS_INVALID' } }],
  ])('refuse %j as the page says', async (args, expected) => {
    const refused = await call('reports.read', args);
    expect(outcomeOf(refused)).toMatchObject(expected);
    expect(refused.code).toBe(1);
  });
});

describe('the worker of the operations page', () => {
  it('serves on Redis and drains on SIGTERM', async () => {
    const redis = await startRedis();
    const variables = { ...env, REDIS_URL: redis.url, MODULES: built('examples/docs/modules') };
    const worker = await spawnNode(built('examples/docs/run-worker.js'), [], { env: variables });
    const line = await worker.waitForLine(/^ready: http/);
    expect((await fetch(`${line.slice('ready: '.length)}/readyz`)).status).toBe(200);
    worker.kill('SIGTERM');
    expect(await worker.exited).toStrictEqual({ code: 0, signal: null });
    await redis.stop();
  });
});
