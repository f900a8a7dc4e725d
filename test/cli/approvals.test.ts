import { userInfo } from 'node:os';
import { join } from 'node:path';
import { writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ApprovalQuestion } from '../../src/domain/policy/approval.ts';
import { CLOSED_POLICY } from '../../src/domain/policy/policy.ts';
import type { Store } from '../../src/domain/ports/store.ts';
import { openEmbeddedStore } from '../../src/stores/embedded/embedded-store.ts';
import { findQuestionMasks } from '../../src/observe/redact/question-masks.ts';
import { canonicalJson } from '../../src/base/canonical-json.ts';
import { decode } from '../../src/base/message-pack.ts';
import { decodeOutcome } from '../../src/domain/outcome/outcome-bytes.ts';
import {
  askAbout,
  claimMany,
  claimOne,
  decideRequest,
  holdOne,
  openSession,
  settleRequest,
} from '../contract/fixtures.ts';
import { auditOf, recordOf } from '../contract/observe.ts';
import { DRESSED_COMMANDS } from '../support/dressed-commands.ts';
import { failOnLeaks } from '../support/reaper.ts';
import { planeFolder, type PlaneFolder } from './plane-folder.ts';
import { MAIN } from './run-cli.ts';

let plane: PlaneFolder;
let store: Store;
beforeAll(async () => {
  plane = planeFolder();
  // This process owns the store; the commands reach it over its socket.
  store = await openEmbeddedStore({ folder: join(plane.path, '.sallyport') });
  const roles = { reviewers: ['rita', 'default/sam'] };
  await store.writePolicy({ expectedVersion: 0, policy: { ...CLOSED_POLICY, roles } });
});
afterAll(async () => {
  await store.close();
  plane.remove();
  failOnLeaks();
});

/** Does the gate's part: makes a call and asks approvers about it. */
async function ask(question: Partial<ApprovalQuestion> = {}): Promise<ApprovalQuestion> {
  const session = await openSession(store, { tenant: 'default', subject: 'ann' });
  const asked = await askAbout(store, await holdOne(store, session), { question });
  return asked.question;
}

/** Settles the calls that were allowed, so that the next test claims only its own call. */
async function runAllowed(): Promise<void> {
  for (const delivery of await claimMany(store)) await store.settleCall(settleRequest(delivery));
}

const codeOf = ({ id }: ApprovalQuestion): string => id.slice(id.lastIndexOf('.') + 1).slice(0, 10);
const decide = (question: ApprovalQuestion, decision: string, ...more: string[]) =>
  plane.cli('approvals', 'decide', question.id, decision, ...more);

describe('sallyport approvals', () => {
  it('list shows what is pending, with its tool, subject and time left', async () => {
    const question = await ask({ title: 'Write \u202e it?', severity: 'critical' });
    const { stdout, code } = await plane.cli('approvals', 'list');
    expect(code).toBe(0);
    expect(stdout).toContain(question.id);
    expect(stdout).toMatch(/critical\s+files\.write\s+ann\s+helper\s+pending\s+24 h\s+Write \\u\{202e\} it\?/);
    const listed = (await plane.json('approvals', 'list', '--limit', '1000')) as unknown as { question: object }[];
    expect(listed).toMatchObject([{ state: 'pending', question: { id: question.id, binding: question.binding } }]);
    await decide(question, 'deny', '--binding', question.binding);
    expect((await plane.cli('approvals', 'list')).stderr).toContain('Nobody is being asked.');
    expect((await plane.cli('approvals', 'list', '--state', 'denied')).stdout).toContain(question.id);
    expect((await plane.cli('approvals', 'list', '--state', 'all')).stdout).toContain(question.id);
  });

  it('show prints exactly what will run, with length and digest, and hides nothing that hides', async () => {
    const args = JSON.stringify({ command: 'rm -rf ~\u00a0\u202e/', n: 1 });
    const question = await ask({ arguments: args, reasons: ['rule shell: it deletes'], detail: 'only for you' });
    const { stdout, code } = await plane.cli('approvals', 'show', codeOf(question));
    expect(code).toBe(0);
    expect(stdout).toContain(`Will run with (${Buffer.byteLength(args)} bytes):`);
    expect(stdout).toContain('  "command": "rm -rf ~\\u00a0\\u202e/",\n  "n": 1\n');
    expect(stdout).toContain(`Binding: ${question.binding}`);
    expect(stdout).toContain('rule shell: it deletes');
    expect(stdout).toContain('only for you');
    expect(stdout).not.toMatch(/[\u202e\u00a0]/);
    await decide(question, 'deny', '--binding', question.binding);
  });

  it('show masks what the question says, reveal shows it once the audit knows, and a yes needs the reveal', async () => {
    const args = {
      api_key: 'hush-hush',
      command: 'curl -u ann:hush-hush x',
      key: 'hush-hush',
      path: 'seen',
      token: 'secret:X',
    };
    const canonical = JSON.stringify(args);
    const inputSchema = { type: 'object', properties: { key: { type: 'string', writeOnly: true } } };
    const masks = findQuestionMasks(canonical, { inputSchema, privileged: false });
    const question = await ask({
      arguments: canonical,
      answers: '{"pin":"4711-4711"}',
      masks: [
        ...masks.map((mask) => ({ of: 'arguments', ...mask }) as const),
        { of: 'answers', pointer: '/pin' } as const,
      ],
    });
    for (const flags of [[], ['--json']]) {
      const { stdout } = await plane.cli('approvals', 'show', question.id, ...flags);
      expect(stdout).not.toContain('hush-hush');
      expect(stdout).not.toContain('4711');
      expect(stdout).toMatch(/key\\?": \[secret [0-9a-f]{8}, 9 characters\]/);
      expect(stdout).toMatch(/curl -u ann:\[secret [0-9a-f]{8}, 9 characters\] x/);
      expect(stdout).toContain('seen');
      expect(stdout).toContain('secret:X');
    }
    expect((await plane.cli('approvals', 'show', question.id)).stdout).toContain(
      `Part of it is masked. Before you allow it, see it all: sallyport approvals reveal ${question.id}`,
    );
    const early = await decide(question, 'allow-once', '--binding', question.binding);
    expect(early).toMatchObject({ code: 1, stdout: '' });
    expect(early.stderr).toContain(`sallyport approvals reveal ${question.id}`);

    const revealed = await plane.cli('approvals', 'reveal', question.id, '--as', 'operator:olga');
    expect(revealed.code).toBe(0);
    for (const [name, value] of Object.entries(args)) expect(revealed.stdout).toContain(`"${name}": "${value}"`);
    expect(revealed.stdout).toContain('"pin": "4711-4711"');
    expect(revealed.stdout).not.toContain('[secret');
    const record = (await auditOf(store, question.callId)).find(({ event }) => event === 'approval.revealed')!;
    expect(decode(record.detail)).toEqual({ approval: question.id, binding: question.binding, by: 'operator olga' });

    const other = await decide(question, 'allow-once', '--binding', question.binding);
    expect(other.stderr).toContain('Nothing was decided.');
    const same = await decide(question, 'allow-once', '--binding', question.binding, '--as', 'operator:olga');
    expect(same).toMatchObject({ code: 0, stdout: 'Decided: allowed.\n' });
    const late = await plane.cli('approvals', 'reveal', question.id);
    expect(late).toMatchObject({ code: 1, stdout: '' });
    expect(late.stderr).toContain('It was already allowed');
    await runAllowed();
  });

  it('show prints all of a command that was disguised as a secret', async () => {
    const steps = DRESSED_COMMANDS.map(([, text]) => text);
    const canonical = canonicalJson({ steps });
    const masks = findQuestionMasks(canonical, { inputSchema: {}, privileged: false });
    const question = await ask({ arguments: canonical, masks: masks.map((mask) => ({ of: 'arguments', ...mask })) });
    const { stdout } = await plane.cli('approvals', 'show', question.id);
    for (const step of steps) expect(stdout).toContain(JSON.stringify(step));
    await store.decideApproval(decideRequest({ question }, 'deny'));
  });

  it('decide needs the digest without a terminal, and decides nothing with another one', async () => {
    const question = await ask();
    const without = await decide(question, 'allow-once');
    expect(without).toMatchObject({ code: 2, stdout: '' });
    expect(without.stderr).toContain('--binding');
    const wrong = await decide(question, 'allow-once', '--binding', '0'.repeat(64));
    expect(wrong.code).toBe(1);
    expect(wrong.stderr).toContain('The binding is not that of this question');
    expect((await store.readApproval(question.id))?.state).toBe('pending');
    const right = await decide(question, 'allow-once', '--binding', question.binding.toUpperCase());
    expect(right).toMatchObject({ code: 0, stdout: 'Decided: allowed.\n' });
    expect((await claimOne(store)).resumedWith).toMatchObject({ approval: question.id });
    const late = await decide(question, 'deny', '--binding', question.binding);
    expect(late.code).toBe(1);
    expect(late.stderr).toContain('It was already allowed; nothing was changed.');
  });

  it('decide says in the audit who it was: the user of this system, unless another is named', async () => {
    const [first, second] = [await ask(), await ask()];
    await decide(first, 'deny', '--binding', first.binding);
    await decide(second, 'deny', '--binding', second.binding, '--as', 'rita', '--comment', 'not now');
    const saidBy = async ({ callId }: ApprovalQuestion) => {
      const decided = (await auditOf(store, callId)).find(({ event }) => event === 'approval.decided')!;
      return decode(decided.detail);
    };
    expect(await saidBy(first)).toMatchObject({ by: `operator ${userInfo().username}` });
    expect(await saidBy(second)).toMatchObject({ by: 'subject default/rita', comment: 'not now' });
    const outcome = decodeOutcome((await recordOf(store, second.callId)).outcome!);
    expect(outcome.error?.message).toContain('not now');
  });

  it('decide in the name of a stranger or of the requester is refused', async () => {
    const question = await ask();
    const stranger = await decide(question, 'deny', '--binding', question.binding, '--as', 'mallory');
    expect(stranger).toMatchObject({ code: 1, stdout: '' });
    expect(stranger.stderr).toContain('There is no approval');
    const requester = await decide(question, 'deny', '--binding', question.binding, '--as', 'default/ann');
    expect(requester.code).toBe(1);
    expect(requester.stderr).toContain('Who asked may not decide.');
    const sam = await decide(question, 'deny', '--binding', question.binding, '--as', 'sam');
    expect(sam.code).toBe(0);
  });

  it('decide on a terminal shows the question and asks once more', async () => {
    const question = await ask({ arguments: '{"path":"notes.txt"}' });
    const run = (answer: string) =>
      plane.terminal(
        `printf '${answer}\\n' | script -qec "'${process.execPath}' '${MAIN}' approvals decide ${question.id} allow-once" /dev/null`,
      );
    const no = await run('n');
    expect(no.stdout).toContain('"path": "notes.txt"');
    expect(no.stdout).toContain(question.binding);
    expect(no.stdout).toContain('Nothing was decided.');
    expect((await store.readApproval(question.id))?.state).toBe('pending');
    expect((await run('y')).stdout).toContain('Decided: allowed.');
    await runAllowed();
  });

  it('decide runs other arguments where an approver gives them', async () => {
    const question = await ask();
    writeFileSync(plane.file('edited.json'), '{"b":1,"a":2}');
    const edited = await decide(question, 'allow-once', '--binding', question.binding, '--arguments', '@edited.json');
    expect(edited.code).toBe(0);
    expect(edited.stderr).toContain('No worker has taken the call yet. What becomes of it: sallyport calls wait');
    expect((await store.readApproval(question.id))?.editedArguments).toBe('{"a":2,"b":1}');
    expect((await plane.cli('approvals', 'show', question.id)).stdout).toContain('Allowed instead (13 bytes):');
    await runAllowed();
    const other = await ask();
    const denied = await decide(other, 'deny', '--binding', other.binding, '--arguments', '{}');
    expect(denied.code).toBe(2);
    await decide(other, 'deny', '--binding', other.binding);
  });

  it('an ambiguous prefix of an id gives the same answer as an unknown id', async () => {
    const [first, second] = [await ask(), await ask()];
    const ambiguous = await plane.cli('approvals', 'show', first.id.slice(0, 14));
    const unknown = await plane.cli('approvals', 'show', 'no-such-approval');
    for (const { code, stderr } of [ambiguous, unknown]) {
      expect(code).toBe(1);
      expect(stderr).toMatch(/^sallyport: There is no approval \S+ that you may see\./);
    }
    for (const question of [first, second]) await decide(question, 'deny', '--binding', question.binding);
  });

  it('the end of an id, as the console shows it, names one approval', async () => {
    const question = await ask();
    const end = `…${question.id.slice(-8)}`;
    // Typed without the ellipsis, an end that begins with a hyphen would be read as an option, so its hyphens are left out.
    for (const asked of [end, question.id.slice(-9).replace(/^-+/, '')]) {
      expect((await plane.cli('approvals', 'show', asked)).stdout).toContain(question.id);
    }
    const decided = await plane.cli('approvals', 'decide', end, 'deny', '--binding', question.binding);
    expect(decided).toMatchObject({ code: 0, stdout: 'Decided: denied.\n' });
    expect((await plane.cli('approvals', 'show', end)).stdout).toContain(question.id);
  });

  it('an end that several approvals have is refused with ID_AMBIGUOUS, and decides nothing', async () => {
    const first = await ask();
    const [lane, scope, rest] = first.id.split('.');
    const other = `${lane}.${scope}.${rest!.startsWith('A') ? 'B' : 'A'}${rest!.slice(1)}`;
    const second = await ask({ id: other as ApprovalQuestion['id'], binding: first.binding });
    for (const command of ['show', 'reveal', 'decide', 'wait']) {
      const more = command === 'decide' ? ['allow-once', '--binding', first.binding] : [];
      const { code, stdout } = await plane.cli('approvals', command, `…${first.id.slice(-8)}`, ...more, '--json');
      expect(code).toBe(1);
      expect(JSON.parse(stdout)).toMatchObject({ error: { code: 'ID_AMBIGUOUS' } });
    }
    for (const { id } of [first, second]) expect((await store.readApproval(id))?.state).toBe('pending');
    for (const question of [first, second]) await decide(question, 'deny', '--binding', question.binding);
  });

  it('wait returns when an approver has decided, and prints the decision', async () => {
    const question = await ask();
    const soon = await plane.cli('approvals', 'wait', question.id, '--wait', '1ms');
    expect(soon.code).toBe(1);
    expect(soon.stderr).toContain('is still pending');
    const waiting = plane.cli('approvals', 'wait', question.id);
    await decide(question, 'allow-once', '--binding', question.binding, '--as', 'rita');
    expect(await waiting).toMatchObject({ code: 0, stdout: 'allowed by default/rita\n' });
    expect(await plane.cli('approvals', 'wait', question.id)).toMatchObject({ code: 0, stderr: '' });
    await runAllowed();
  });

  it('wait ends at the first Ctrl-C', async () => {
    const question = await ask();
    const waiting = await plane.startWaiting('approvals', 'wait', question.id);
    await waiting.waitForLine(/^Waiting for a decision/);
    waiting.kill('SIGINT');
    expect(await waiting.exited).toMatchObject({ code: 1 });
    expect((await store.readApproval(question.id))?.state).toBe('pending');
    await decide(question, 'deny', '--binding', question.binding);
  });
});

describe('sallyport grants', () => {
  it('list and revoke what allow-always made', async () => {
    const question = await ask();
    const flags = ['--binding', question.binding, '--uses', '3', '--lifetime', '2h', '--any-arguments', '--any-agent'];
    const { stdout, code } = await decide(question, 'allow-always', ...flags);
    expect(code).toBe(0);
    const id = /Grant (\S+)/.exec(stdout)![1]!;
    expect((await plane.cli('grants', 'list')).stdout).toMatch(
      new RegExp(`${id}\\s+files\\.write\\s+default/ann\\s+any\\s+any\\s+3\\s+(2 h|1[12]\\d min)\\s+operator`),
    );
    expect((await plane.cli('grants', 'list', '--as', 'mallory')).stderr).toContain('There are no grants.');
    const stranger = await plane.cli('grants', 'revoke', id, '--as', 'mallory');
    expect(stranger.code).toBe(1);
    expect(stranger.stderr).toContain('There is no grant');
    expect((await plane.cli('grants', 'revoke', id)).code).toBe(0);
    expect((await plane.cli('grants', 'revoke', id)).code).toBe(0);
    expect((await plane.cli('grants', 'list')).stdout).toMatch(new RegExp(`^${id} .* revoked +operator`, 'm'));
    const listed = (await plane.json('grants', 'list')) as unknown as object[];
    expect(listed).toMatchObject([{ id, revoked: true, usesLeft: 3 }]);
    await runAllowed();
  });

  it('list says that a grant is for exactly these arguments, without a digest of them', async () => {
    const question = await ask({ arguments: '{"pin":"4711"}' });
    await decide(question, 'allow-always', '--binding', question.binding);
    const digest = (await store.listGrants({ limit: 10 })).flatMap(({ matches }) =>
      matches.kind === 'exact' ? [matches.argumentsDigest] : [],
    );
    expect(digest).toEqual([expect.stringMatching(/^[0-9a-f]{64}$/)]);
    const { stdout } = await plane.cli('grants', 'list', '--json');
    expect(JSON.parse(stdout)).toContainEqual(expect.objectContaining({ matches: { kind: 'exact' } }));
    expect(stdout).not.toContain(digest[0]);
    await runAllowed();
  });

  it('a second allow-always with another grant gets the answer that the first decision stands and made no grant', async () => {
    const question = await ask();
    const flags = ['--binding', question.binding, '--uses', '3'];
    const first = await decide(question, 'allow-always', ...flags);
    expect(await decide(question, 'allow-always', ...flags)).toMatchObject({ code: 0, stdout: first.stdout });
    const count = (await store.listGrants({ limit: 100 })).length;
    const second = await decide(question, 'allow-always', ...flags, '--any-arguments');
    expect(second).toMatchObject({ code: 1, stdout: '' });
    expect(second.stderr).toContain('It was already allowed; nothing was changed. The first decision stands');
    expect(second.stderr).toContain('no grant was made');
    expect(await store.listGrants({ limit: 100 })).toHaveLength(count);
    await runAllowed();
  });

  it('flags of a grant without allow-always are refused', async () => {
    const question = await ask();
    const { code, stderr } = await decide(question, 'allow-once', '--binding', question.binding, '--uses', '3');
    expect(code).toBe(2);
    expect(stderr).toContain('Only allow-always makes a grant.');
    await decide(question, 'deny', '--binding', question.binding);
  });
});
