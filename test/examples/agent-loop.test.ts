import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { spawnNode, temporaryFolder, type TemporaryFolder } from '../support/process.ts';
import { failOnLeaks } from '../support/reaper.ts';

// Each test starts its own plane.
vi.setConfig({ testTimeout: 120_000 });

const place = (name: string): string => fileURLToPath(new URL(`../../examples/agent-loop/${name}`, import.meta.url));
/** Unsets the settings of this machine, so that they cannot change the results of the tests. */
const env = Object.fromEntries(
  Object.keys(process.env)
    .filter((name) => name.startsWith('SALLYPORT_') || name.startsWith('npm_'))
    .map((name) => [name, undefined]),
);

let folder: TemporaryFolder;
beforeEach(() => void (folder = temporaryFolder('sallyport-loop')));
afterEach(() => folder.remove());
afterAll(() => failOnLeaks());

async function run(...args: string[]) {
  const started = await spawnNode(place('run.mjs'), args, { env: { ...env, TMPDIR: folder.path } });
  const { code } = await started.exited;
  return { code, stdout: started.stdout, stderr: started.stderr, lines: started.stdout.trimEnd().split('\n') };
}

describe.each(['ai-sdk', 'openai-agents'])('the agent loop of %s', (sdk) => {
  it('calls, asks a person, is refused, is stopped in a loop, and ends with an answer, as its README shows', async () => {
    const { code, stdout, stderr, lines } = await run(sdk);
    expect(stderr.replace(/^warning: running as root.*\n/, '')).toBe('');
    expect(code).toBe(0);
    const shown = /```text\n([\s\S]*?)```/.exec(readFileSync(place('README.md'), 'utf8'))![1];
    expect(stdout).toBe(shown);
    // The main points of the output, independent of the text in the README.
    const at = (text: string): number => lines.findIndex((line) => line.includes(text));
    expect(at('person  is asked: shop.order { "item": "lamp-2", "quantity": 3 }')).toBe(at('agent   shop.order') + 1);
    expect(at('tool    {"order":"A-1"')).toBeGreaterThan(at('person  allows it, once'));
    expect(lines.filter((line) => line.startsWith('person  is asked'))).toHaveLength(1);
    expect(lines[at('agent   shop.refund') + 1]).toContain('denied: Rule "refunds"');
    expect(at('You have called shop.track 3 times')).toBeGreaterThan(-1);
    expect(at('blocked: This call did not run: shop.track')).toBeGreaterThan(at('You have called shop.track 3 times'));
    // The blocked calls did not run, and the allowed order was placed once (`"orders":1`).
    expect(lines.filter((line) => line === 'tool    {"state":"being packed","orders":1}')).toHaveLength(5);
    expect(lines.at(-1)).toContain('Order A-1 for 267 is placed.');
    expect(readdirSync(folder.path)).toEqual([]);
  });
});

it('the agent loop says which agents there are', async () => {
  const { code, stdout, stderr } = await run('langchain');
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toContain('ai-sdk|openai-agents');
});
