import { writeFileSync } from 'node:fs';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { isFromSallyport } from '../../examples/docs/verify-webhook.ts';
import type { Check } from '../../src/operate/check.ts';
import { failOnLeaks } from '../support/reaper.ts';
import type { WatchedProcess } from '../support/watched-process.ts';
import { startWebhookReceiver } from '../support/webhook-receiver.ts';
import { planeFolder, type PlaneFolder } from './plane-folder.ts';
import { MAIN } from './run-cli.ts';

const SECRET = 'a-secret-of-both-sides-4711';
const POLICY = `permissions:
  "*": { allow: ["*"] }
rules:
  - { id: writing, verdict: ask, tools: [basic.write], ask: { timeoutMs: 3600000 } }
`;

let plane: PlaneFolder;
let dev: WatchedProcess | undefined;
beforeEach(() => {
  plane = planeFolder();
  writeFileSync(plane.file('policy.yaml'), POLICY, { mode: 0o600 });
  writeFileSync(plane.file('effects.txt'), '');
});
afterEach(async () => {
  await dev?.stop();
  plane.remove();
});
afterAll(() => failOnLeaks());

const configure = (text: string): void =>
  writeFileSync(plane.file('sallyport.yaml'), `policyFile: policy.yaml\n${text}`, { mode: 0o600 });
const ask = () => plane.call('basic.write', { file: plane.file('effects.txt'), line: 'value-4711' }, '--detach');
async function approvalsCheck(): Promise<Check> {
  const { checks } = (await plane.json('doctor')) as unknown as { checks: Check[] };
  return checks.find(({ name }) => name === 'approvals')!;
}

describe('a plane on which a person is asked', () => {
  it('says so in the terminal of dev, with what is asked, for whom and a command that decides it, and in doctor', async () => {
    configure('');
    dev = await plane.start('dev');
    expect(await approvalsCheck()).toMatchObject({ state: 'ok', found: 'nobody is being asked' });
    await ask();
    const line = await dev.waitForLine(/approvals decide \S+ allow-once/);
    expect(dev.stderr).toMatch(
      /^warning: a person is asked: .+\n {2}basic\.write for .*local.*; severity \w+; ends in 60 min\n/m,
    );
    const command = /(approvals decide \S+ allow-once)/.exec(line)![1]!;
    const check = await approvalsCheck();
    expect(check).toMatchObject({ state: 'warn' });
    expect(check.found).toMatch(/^1 pending, the oldest since \S+: \S+; 1 of them only operators can decide/);
    const { stdout } = await plane.terminal(
      `printf 'y\\n' | script -qec "'${process.execPath}' '${MAIN}' ${command}" /dev/null`,
    );
    expect(stdout).toContain('Decided: allowed.');
    await plane.untilWritten('effects.txt', 'S');
    expect(dev.stderr + dev.stdout).not.toContain('4711');
  });

  it('is reported at once by call, on standard error, with the commands that decide it', async () => {
    configure('');
    dev = await plane.start('dev');
    const args = JSON.stringify({ file: plane.file('effects.txt'), line: 'value-4711' });
    const calling = await plane.startWaiting('call', 'basic.write', args);
    const line = await calling.waitForLine(/approvals decide \S+ allow-once/, 20_000);
    expect(calling.stderr).toContain('a person is asked before basic.write runs, and has 60 min to decide');
    await calling.waitForLine(/or in the console: http:\/\/127\.0\.0\.1:\d+\/console\/approvals\//, 20_000);
    const [, command, id] = /(approvals decide (\S+) allow-once)/.exec(line)!;
    await plane.terminal(`printf 'y\\n' | script -qec "'${process.execPath}' '${MAIN}' ${command}" /dev/null`);
    expect(await calling.exited).toMatchObject({ code: 0 });
    expect(calling.stderr.split(`decide ${id} allow-once`)).toHaveLength(2);
    expect(calling.stderr).not.toContain('4711');
  });

  it('notifies a webhook whose secret is in a file', async () => {
    const receiver = await startWebhookReceiver();
    try {
      writeFileSync(plane.file('secret'), `${SECRET}\n`, { mode: 0o600 });
      configure(`approvals: { webhook: { url: "${receiver.url}", secretFile: ./secret } }\n`);
      dev = await plane.start('dev');
      await ask();
      const [sent] = await receiver.until(1);
      expect(isFromSallyport(sent!.headers, sent!.body, SECRET)).toBe(true);
      expect(sent!.message).toMatchObject({ event: 'approval.requested', tool: 'basic.write', agent: 'cli' });
      expect(await approvalsCheck()).toMatchObject({
        state: 'ok',
        found: expect.stringMatching(/^1 pending/) as string,
      });
      expect(dev.stderr + dev.stdout).not.toContain('4711');
    } finally {
      await receiver.stop();
    }
  });

  it.each([
    ['that others can read', 0o644, SECRET, 77, 'can be read by other users'],
    ['with too little in it', 0o600, 'short', 78, '16 characters or more'],
  ])('does not start with a secret file %s', async (_, mode, content, code, problem) => {
    writeFileSync(plane.file('secret'), content, { mode });
    configure('approvals: { webhook: { url: "https://example.com/", secretFile: ./secret } }\n');
    const started = await plane.cli('dev', '--modules', plane.modules);
    expect(started).toMatchObject({ code });
    expect(started.stderr).toContain(problem);
    expect(started.stderr).not.toContain(SECRET);
  });
});
