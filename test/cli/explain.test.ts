import { writeFileSync } from 'node:fs';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { failOnLeaks } from '../support/reaper.ts';
import type { WatchedProcess } from '../support/watched-process.ts';
import { planeFolder, type PlaneFolder } from './plane-folder.ts';
import { MAIN, type CliResult } from './run-cli.ts';

const POLICY = `roles:
  ops: [ann]
permissions:
  "*":
    allow: ["*"]
  basic.fails:
    deny: [eve]
agents:
  main:
    selection:
      - { module: basic, tools: [echo, fails] }
paused: {}
`;

let plane: PlaneFolder;
let dev: WatchedProcess;
beforeAll(async () => {
  plane = planeFolder();
  writeFileSync(plane.file('sallyport.yaml'), 'policyFile: policy.yaml\n');
  writeFileSync(plane.file('policy.yaml'), POLICY);
  dev = await plane.start('dev');
});
afterAll(async () => {
  await dev.stop();
  plane.remove();
  failOnLeaks();
});
beforeEach(async () => {
  await plane.cli('policy', 'set', 'policy.yaml');
});

const explain = (...args: string[]): Promise<CliResult> => plane.cli('explain', ...args);
const version = async (): Promise<unknown> => (await plane.json('policy', 'show'))['version'];
/** Runs the printed commands as a user would, with `sallyport` as a shell function that starts this build. */
const runShown = (lines: readonly string[]): Promise<CliResult> =>
  plane.shell(`sallyport() { '${process.execPath}' '${MAIN}' "$@"; }; ${lines.join(' && ')}`);
const commandsOf = ({ stdout }: CliResult): string[] =>
  stdout
    .split('\n')
    .filter((line) => /^ {2}(sallyport|printf) /.test(line))
    .map((line) => line.trim());

describe('sallyport explain', () => {
  it('says which rule lets a call through, in which version and on which line, and changes nothing', async () => {
    const before = await version();
    const result = await explain('main', 'basic.echo', '{"text":"x"}');
    expect(result).toMatchObject({ code: 0, stderr: '' });
    expect(result.stdout).toContain('main may call basic.echo for local\n');
    expect(result.stdout).toMatch(
      new RegExp(
        `ok +permission +"\\*" allows \\* +decides: permissions \\* allow \\* in policy version ${String(before)}, .*policy\\.yaml:5:13`,
      ),
    );
    expect(result.stdout).toMatch(/ok +selection +agent main selected it/);
    expect(result.stdout).toMatch(/ok +arguments +they match the published schema/);
    expect(await version()).toBe(before);
    expect(await plane.json('calls', 'list')).toStrictEqual([]);
  });

  it('prints the line of a selection that lacks the tool, and a command that adds it', async () => {
    const result = await explain('main', 'basic.wait');
    expect(result.code).toBe(1);
    expect(result.stdout).toMatch(
      /no +selection +agent main did not select it +decides: agents main selection in policy version \d+, .*policy\.yaml:10:5/,
    );
    expect((await runShown(commandsOf(result))).code).toBe(0);
    const after = await explain('main', 'basic.wait');
    expect(after.code).toBe(0);
    const { checks } = (await plane.json('explain', 'main', 'basic.wait')) as { checks: Record<string, unknown>[] };
    // The stored policy has a selection that the file does not have, so no line of the file can be named.
    expect(checks.find(({ check }) => check === 'selection')).not.toHaveProperty('place');
  });

  it('prints every obstacle at once, with commands that remove them', async () => {
    await plane.cli('pause', 'all');
    await plane.cli('pause', 'tool', 'basic.*');
    const result = await explain("o'hara", 'basic.echo');
    expect(result.code).toBe(1);
    expect(result.stdout).toMatch(/no +paused +all calls are paused +decides: paused all in policy version \d+\n/);
    expect(result.stdout).toContain("no agent o'hara is declared");
    const commands = commandsOf(result);
    expect(commands).toHaveLength(3);
    expect((await runShown(commands)).code).toBe(0);
    expect((await explain("o'hara", 'basic.echo')).code).toBe(0);
    expect((await plane.call('basic.echo', { text: 'x' }, '--agent', "o'hara")).code).toBe(0);
  });

  it('prints a denial with its line, and what the policy must hold instead', async () => {
    expect(await plane.json('explain', 'main', 'basic.fails', '--subject', 'eve')).toMatchObject({
      allowed: false,
      decidedBy: 'permission',
      checks: expect.arrayContaining([
        {
          check: 'permission',
          passes: false,
          found: '"basic.fails" denies eve',
          rule: ['permissions', 'basic.fails', 'deny', 'eve'],
          place: expect.stringMatching(/policy\.yaml:7:12$/) as string,
        },
      ]) as unknown,
      changes: [{ kind: 'permit', entry: 'basic.fails', snippet: { permissions: { 'basic.fails': {} } } }],
    });
    const closed = await explain('main', 'basic.privileged', '--subject', 'ann', '--tenant', 'acme');
    expect(closed.stdout).toContain('a privileged tool is opened by name and to named subjects only');
    expect(closed.stdout).toContain('{"permissions":{"basic.privileged":{"allow":["acme/ann"]}}}');
  });

  it('prints wrong arguments and unknown tools, and refuses a wrong command line', async () => {
    const wrong = await explain('main', 'basic.echo', '{"text":1}');
    expect(wrong.code).toBe(1);
    expect(wrong.stdout).toMatch(/no +arguments +text: must be string +decides\n/);
    expect(wrong.stdout).not.toContain('To allow it');
    const unknown = await explain('main', 'basic.eco');
    expect(unknown.code).toBe(1);
    expect(unknown.stdout).toContain('Did you mean basic.echo?');
    for (const args of [
      ['main'],
      ['main', 'basic.echo', '[]'],
      ['', 'basic.echo'],
      ['main', 'basic.echo', '--tenant', 'a/b'],
    ]) {
      expect((await explain(...args)).code).toBe(2);
    }
  });
});
