import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runInNewContext } from 'node:vm';
import { GateBlocked, type ApprovalDecision, type GateApprover, type GateQuestion } from 'sallyport/gate';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { guardedBy, wrapAll } from '../../examples/docs/migrating/old-hook.ts';
import { spawnNode, temporaryFolder, type TemporaryFolder } from '../support/process.ts';
import type { WatchedProcess } from '../support/watched-process.ts';
import { codeBlocks, readPages, TOP } from './pages.ts';

const page = readPages().find(({ path }) => path === 'docs/migrating.md')!;
const blocksIn = (language: string): string[] =>
  codeBlocks(page)
    .filter((block) => block.language === language)
    .map(({ text }) => text);

const built = (path: string): string => join(TOP, 'dist', path);
const env = Object.fromEntries(
  Object.keys(process.env)
    .filter((name) => name.startsWith('SALLYPORT_') || name.startsWith('npm_'))
    .map((name) => [name, undefined]),
);

/** Replaces the Python program of the page on machines without Python; it reads and writes the same messages. */
const WITHOUT_PYTHON = `
import { text } from 'node:stream/consumers';
const { arguments: { query }, context } = JSON.parse(await text(process.stdin));
const pages = { milk: 'Buy it on Mondays.' };
console.log(JSON.stringify(Object.hasOwn(pages, query)
  ? { result: context.user_id + ' found: ' + pages[query] }
  : { error: 'There is no page about ' + query + '.' }));
`;

/** Writes the Python files of the page, each under the name in its first line. Returns the command that runs a tool. */
function writeOldTools(folder: string): string[] {
  mkdirSync(join(folder, 'tools'));
  for (const text of blocksIn('python')) writeFileSync(join(folder, /^# ([\w./]+)/.exec(text)![1]!), text);
  const hasPython = spawnSync('python3', ['--version']).status === 0;
  if (hasPython) return ['python3', join(folder, 'run_old_tool.py')];
  writeFileSync(join(folder, 'run-old-tool.mjs'), WITHOUT_PYTHON);
  return [process.execPath, join(folder, 'run-old-tool.mjs')];
}

describe('the page for those who come from another system', () => {
  let folder: TemporaryFolder;
  let dev: WatchedProcess;

  beforeAll(async () => {
    folder = temporaryFolder('sallyport-migrating');
    const setup = { command: writeOldTools(folder.path) };
    const modules = [{ file: built('examples/docs/migrating/old-tools.js'), setup }];
    writeFileSync(join(folder.path, 'modules.json'), JSON.stringify({ modules }));
    dev = await spawnNode(built('cli/main.js'), ['dev', '--modules', 'modules.json'], { cwd: folder.path, env });
    await dev.waitForLine(/Try in a second terminal/);
  });
  afterAll(async () => {
    await dev.stop();
    folder.remove();
  });

  async function linesOf(example: string): Promise<string[]> {
    const started = await spawnNode(built(`examples/docs/migrating/${example}.js`), [], { cwd: folder.path, env });
    expect({ ...(await started.exited), said: started.stderr }).toStrictEqual({ code: 0, signal: null, said: '' });
    return started.stdout.trimEnd().split('\n');
  }

  it('runs an old tool unchanged, once per key, and reports its failures', async () => {
    const [first, again, other, failed, ...more] = await linesOf('call-as-before');
    expect([first, again]).toStrictEqual(['ada found: Buy it on Mondays.', 'ada found: Buy it on Mondays.']);
    expect(other).toMatch(/^conflict: /);
    expect(failed).toBe('failed: There is no page about nothing.');
    expect(more).toStrictEqual([]);
  });

  it('shows each agent of a stored setup exactly what the page says', async () => {
    expect(await linesOf('declare-setups')).toStrictEqual(blocksIn('text')[0]!.split('\n'));
  });
});

describe('an old hook in the gate', () => {
  type OldHook = Parameters<typeof guardedBy>[0];

  const lines: string[] = [];

  /** Registers the hook of the page as it stands there. */
  function readOldHook(): OldHook {
    const registered: OldHook[] = [];
    const api = { on: (_name: string, hook: OldHook) => registered.push(hook) };
    runInNewContext(blocksIn('js')[0]!, { api, console: { log: (line: string) => lines.push(line) } });
    return registered[0]!;
  }

  /** An approver that answers every question with this decision. */
  function answering(decision: ApprovalDecision): GateApprover & { asked: GateQuestion[] } {
    const asked: GateQuestion[] = [];
    return {
      asked,
      request: async (question) => ({ id: `q${asked.push(question)}` }),
      wait: async (id) => ({ id, decision }),
    };
  }

  function tools(approver: GateApprover) {
    const ran: object[] = [];
    const execute = async (input: object): Promise<string> => `ran ${ran.push(input)}`;
    return { ran, ...wrapAll(guardedBy(readOldHook(), approver), { exec: { execute }, pay: { execute } }) };
  }

  it('blocks with its reason, and lets the rest through as it is', async () => {
    const { ran, exec } = tools(answering('deny'));
    const blocked = await exec.execute({ command: 'rm -rf /' }).catch((error: unknown) => error);
    expect(blocked).toBeInstanceOf(GateBlocked);
    expect((blocked as GateBlocked).message).toContain('Not that.');
    expect(await exec.execute({ command: 'ls' })).toBe('ran 1');
    expect(ran).toStrictEqual([{ command: 'ls' }]);
  });

  it('asks about what it makes of the arguments, which run after a yes', async () => {
    const desk = answering('allow-once');
    const { ran, pay } = tools(desk);
    await pay.execute({ amount: 5 });
    expect(ran).toStrictEqual([{ amount: 5, currency: 'EUR' }]);
    expect(desk.asked).toMatchObject([
      { title: 'A payment', severity: 'critical', timeoutMs: 60_000, decisions: ['allow-once', 'deny'] },
    ]);
    expect(lines).toStrictEqual(['payment: allow-once']);
    expect(JSON.stringify(desk.asked[0]!.arguments)).toContain('EUR');
  });

  it('runs nothing after a no', async () => {
    const { ran, pay } = tools(answering('deny'));
    await expect(pay.execute({ amount: 5 })).rejects.toMatchObject({ code: 'APPROVAL_DENIED' });
    expect(ran).toStrictEqual([]);
  });
});
