import { writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ApprovalQuestion } from '../../src/domain/policy/approval.ts';
import { eventually } from '../support/process.ts';
import { failOnLeaks } from '../support/reaper.ts';
import type { WatchedProcess } from '../support/watched-process.ts';
import { planeFolder, type PlaneFolder } from './plane-folder.ts';

const POLICY = `permissions:
  "*": { allow: ["*"] }
rules:
  - { id: writing, verdict: ask, tools: [basic.write, basic.serialWrite], ask: { timeoutMs: 3600000 } }
`;

let plane: PlaneFolder;
let dev: WatchedProcess;
beforeAll(async () => {
  plane = planeFolder();
  writeFileSync(plane.file('policy.yaml'), POLICY, { mode: 0o600 });
  for (const name of ['slow.txt', 'asked.txt']) writeFileSync(plane.file(name), '');
  dev = await plane.start('dev', ['--policy', 'policy.yaml', '--concurrency', '1']);
});
afterAll(async () => {
  await dev.stop(20_000);
  plane.remove();
  failOnLeaks();
});

interface Listed {
  readonly callId: string;
  readonly state: string;
  readonly tool: string;
}
const list = async (...args: string[]): Promise<Listed[]> =>
  (await plane.json('calls', 'list', ...args)) as unknown as Listed[];
const detach = async (tool: string, args: object): Promise<string> =>
  (await plane.call(tool, args, '--detach')).stdout.trim();

describe('calls list and calls show', () => {
  it('distinguish running, queued and parked calls, and show arguments and results of those that ended', async () => {
    const parked = await detach('basic.write', { file: plane.file('asked.txt'), line: 'x' });
    await dev.waitForLine(/approvals decide \S+ allow-once/, 20_000);
    const running = await detach('basic.slowRead', { file: plane.file('slow.txt'), line: 'x', ms: 600_000 });
    await plane.untilWritten('slow.txt', 'S');
    const queued = await detach('basic.echo', { text: 'later' });

    const states = new Map((await list()).map(({ callId, state }) => [callId, state]));
    expect(states).toStrictEqual(
      new Map([
        [parked, 'parked'],
        [running, 'running'],
        [queued, 'queued'],
      ]),
    );
    expect((await list('--state', 'running')).map(({ callId }) => callId)).toStrictEqual([running]);
    expect((await list('--tool', 'basic.echo')).map(({ callId }) => callId)).toStrictEqual([queued]);
    const asked = await plane.cli('calls', 'show', parked);
    expect(asked.stdout).toMatch(/Arguments, secrets masked:\n[^]*asked\.txt[^]*Result: none yet\./);
    expect((await plane.cli('calls', 'show', running)).stdout).toContain(
      'Arguments: not shown before the call has ended',
    );

    await plane.cli('calls', 'cancel', running);
    await plane.cli('calls', 'wait', queued);
    const shown = await plane.cli('calls', 'show', queued);
    expect(shown.stdout).toMatch(/^ *deadline +\S+Z$/m);
    expect(shown.stdout).not.toContain('waiters');
    expect((await plane.cli('calls', 'list', '--tool', 'a.b')).stderr).toMatch(/^No such call is under way\./);
    expect(shown.stdout).toMatch(/Arguments, secrets masked:\n\{"text":"later"\}\nResult:\n[^]*"later"/);
    expect(await plane.json('calls', 'show', queued)).toMatchObject({
      arguments: '{"text":"later"}',
      outcome: { kind: 'ok', structured: { text: 'later' } },
    });
    expect((await list('--state', 'settled')).map(({ callId }) => callId)).toStrictEqual([queued, running]);
    // `ran for` is not the same as the total time, and `calls show` and `calls list` print the same figure for it.
    const [, ranFor] = /^ *ran for +(.+)$/m.exec(shown.stdout)!;
    expect(shown.stdout).toMatch(/^ *accepted → settled +\d/m);
    const listed = (await plane.cli('calls', 'list', '--state', 'settled')).stdout.split('\n');
    expect(listed[0]).toMatch(/RAN FOR$/);
    expect(listed.find((line) => line.includes(queued))?.endsWith(` ${ranFor}`)).toBe(true);
    const { totalMs, ranMs } = (await plane.json('calls', 'show', queued)) as { totalMs: number; ranMs: number };
    expect(totalMs).toBeGreaterThan(ranMs);
    expect((await list('--state', 'settled', '--limit', '1')).map(({ callId }) => callId)).toStrictEqual([queued]);
    expect((await list('--outcome', 'not-ok')).map(({ callId }) => callId)).toStrictEqual([running]);
    await plane.cli('calls', 'cancel', parked);
  });
});

describe('a call of a serial tool behind a question', () => {
  it('is said to wait for the earlier call, by call, calls wait and calls show', async () => {
    const args = { file: plane.file('asked.txt'), line: 'x', ms: 0 };
    const first = await detach('basic.serialWrite', args);
    await dev.waitForLine(/basic\.serialWrite for /);
    const waits = new RegExp(
      `waits for an earlier call of basic\\.serialWrite, a serial tool: ${first} \\(a person is asked: \\S+\\)`,
    );
    const second = await plane.call('basic.serialWrite', args, '--wait', '1ms');
    expect(second.code).toBe(1);
    expect(second.stderr).toMatch(waits);
    const callId = second.stdout.trim();
    expect((await plane.cli('calls', 'wait', callId, '--wait', '1ms')).stderr).toMatch(waits);
    expect((await plane.cli('calls', 'show', callId)).stdout).toMatch(waits);
    const detached = await plane.call('basic.serialWrite', args, '--detach');
    expect(detached).toMatchObject({ code: 0, stderr: expect.stringMatching(waits) as string });
    const waiting = await plane.startWaiting('call', 'basic.serialWrite', JSON.stringify(args));
    await waiting.waitForLine(waits);
    waiting.kill('SIGINT');
    await waiting.exited;
    for (const { callId: id } of await list('--tool', 'basic.serialWrite')) await plane.cli('calls', 'cancel', id);
  });
});

describe('calls show of a call that a person denied', () => {
  it('shows the arguments of the question, as the API does', async () => {
    const denied = await detach('basic.write', { file: plane.file('asked.txt'), line: 'denied-4711' });
    const question = await eventually(
      async () => {
        const questions = (await plane.json('approvals', 'list')) as unknown as { question: ApprovalQuestion }[];
        return questions.find(({ question: { callId } }) => callId === denied)?.question;
      },
      { what: 'a question about the call' },
    );
    await plane.cli('approvals', 'decide', question.id, 'deny', '--binding', question.binding);
    await plane.cli('calls', 'wait', denied);
    const { stdout } = await plane.cli('calls', 'show', denied);
    expect(stdout).toMatch(/Arguments, secrets masked:\n[^]*"line": "denied-4711"/);
    expect(await plane.json('calls', 'show', denied)).toMatchObject({
      arguments: expect.stringContaining('denied-4711') as string,
    });
  });
});

describe('the end of the id of a call', () => {
  it('names a live call and a settled one; an unknown end is CALL_UNKNOWN', async () => {
    const live = await detach('basic.write', { file: plane.file('asked.txt'), line: 'x' });
    const end = `…${live.slice(-8)}`;
    expect((await plane.cli('calls', 'show', live.slice(-9).replace(/^-+/, ''))).stdout).toContain(live);
    expect((await plane.cli('calls', 'wait', end, '--wait', '1ms')).stderr).toContain(live);
    expect(await plane.json('calls', 'cancel', end)).toMatchObject({ callId: live, answer: 'cancelled' });
    expect((await plane.cli('calls', 'show', end)).stdout).toContain(live);
    for (const asked of ['AAAAAAAA', 'abc', 'no such call']) {
      const { code, stdout } = await plane.cli('calls', 'cancel', asked, '--json');
      expect(code).toBe(1);
      expect(JSON.parse(stdout)).toMatchObject({ error: { code: 'CALL_UNKNOWN' } });
    }
  });
});
