import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readAuditDetail } from '../../src/domain/audit/audit-detail.ts';
import type { JsonObject } from '../../src/base/json.ts';
import { callIdFor, randomId } from '../../src/domain/identity/new-id.ts';
import type { Outcome, SessionHandle } from '../../src/exports/client.ts';
import { decide, OPERATOR, park } from './support/gate-plane.ts';
import { BACKENDS, OPEN_POLICY, stagePlane, type PlaneWorker, type StagedPlane } from './support/stage-plane.ts';
import { audit, callFor } from './support/watch-plane.ts';

const MARKED = fileURLToPath(new URL('../fixtures/secrets-plane/marked.mjs', import.meta.url));
const RUNNERS = ['inline', 'process'] as const;
/** Tools that an approver is asked about. */
const ASKED = ['asked-inline.*', 'asked-process.*'];
/** Hooks that repeat what is secret: in the reason of a blocked call, and in all texts of a question. */
const HOOK = `
export default { id: 'repeating', hooks: [
  { id: 'block', on: 'before_tool_call', tools: ['inline.hooked', 'process.hooked'],
    run: ({ arguments: { pin } }) => ({ block: true, reason: 'not with ' + pin }) },
  { id: 'quote', on: 'before_tool_call', tools: ['inline.quoted', 'process.quoted'],
    run: ({ arguments: { pin } }) => ({ requireApproval: { title: 'Use ' + pin, description: 'It is ' + pin, reason: 'asked for ' + pin } }) },
] };
`;
/** Every pin begins with it. Digits alone also occur in times and ids of log lines. */
const PREFIX = 'p7391';
const MARK = /\[secret [0-9a-f]{8}\]/;

describe.each(BACKENDS)('arguments that a schema marks secret, on %s', (backend) => {
  let plane: StagedPlane;
  let worker: PlaneWorker;
  let session: SessionHandle;

  beforeAll(async () => {
    plane = await stagePlane(backend);
    const modules = join(plane.folder, 'modules.json');
    writeFileSync(
      modules,
      JSON.stringify(
        RUNNERS.flatMap((runner) => [runner, `asked-${runner}`].map((id) => ({ id, file: MARKED, runner }))),
      ),
    );
    const tools = (name: string): string[] => RUNNERS.map((runner) => `${runner}.${name}`);
    await plane.setPolicy({
      ...OPEN_POLICY,
      permissions: {
        ...OPEN_POLICY.permissions,
        ...Object.fromEntries(tools('closed').map((tool) => [tool, { deny: ['*'] }])),
      },
      paused: { tools: tools('paused') },
      rules: [{ id: 'asked', verdict: 'ask', tools: ASKED }],
    });
    const hooks = join(plane.folder, 'repeating.mjs');
    writeFileSync(hooks, HOOK);
    worker = await plane.startWorker({ modules, hooks: [{ file: hooks }] });
    session = await plane.openSession();
  });
  afterAll(() => plane.stop());

  const newPin = (): string => `${PREFIX}${randomBytes(6).toString('hex')}`;

  /** The payload of the last record of the audit. */
  async function lastRecorded(): Promise<{ arguments?: string; detail?: string }> {
    return readAuditDetail((await audit(plane)).at(-1)!.detail).payload;
  }

  /** Makes a call, and returns its outcome and the payload of its last record. The store keeps the outcome that the caller got. */
  async function recorded(tool: string, args: JsonObject): Promise<Outcome & { arguments?: string; detail?: string }> {
    const key = randomId();
    const outcome = await callFor(plane, session, tool, args, { key });
    const stored = await plane.client.wait(session, callIdFor(session.id, key)!);
    expect(stored).toMatchObject({ kind: 'settled', outcome });
    return { ...outcome, ...(await lastRecorded()) };
  }

  it.each<[string, string, (pin: string) => JsonObject]>([
    ['ARGUMENTS_INVALID', 'inline.echo', (pin) => ({ pin, count: 'many' })],
    ['ARGUMENTS_INVALID', 'inline.echo', (pin) => ({ pins: [[pin]], count: 'many' })],
    ['ARGUMENTS_INVALID', 'inline.echo', (pin) => ({ pins: [pin] })],
    ['ARGUMENTS_INVALID', 'inline.echo', (pin) => ({ pins: pin })],
    ['ARGUMENTS_INVALID', 'inline.echo', (pin) => ({ login: pin })],
    ['ARGUMENTS_INVALID', 'inline.echo', (pin) => ({ login: { pin: { pin } } })],
    ['ARGUMENTS_INVALID', 'inline.echo', (pin) => ({ byName: { a: [pin] } })],
    ['ARGUMENTS_INVALID', 'inline.echo', (pin) => ({ either: [pin] })],
    ['ARGUMENTS_INVALID', 'inline.echo', (pin) => ({ pni: pin })],
    ['PERMISSION_DENIED', 'inline.closed', (pin) => ({ pin })],
    ['PAUSED', 'inline.paused', (pin) => ({ pin })],
    ['SECRET_UNDECLARED', 'inline.echo', (pin) => ({ pin, pins: [['secret:CANARY']] })],
  ])('are masked in the record of a call refused with %s: %s', async (code, tool, argumentsWith) => {
    const pin = newPin();
    const { error, executed, arguments: kept } = await recorded(tool, argumentsWith(pin));
    expect({ code: error?.code, executed }).toStrictEqual({ code, executed: 'no' });
    expect(kept).toMatch(MARK);
    expect(kept).not.toContain(pin);
  });

  describe.each(RUNNERS)('with the %s runner', (runner) => {
    it.each([
      ['fails', 'TOOL_FAILED'],
      ['throws', 'TOOL_THREW'],
      ['reports', 'TOOL_FAILED'],
      ['says', 'TOOL_FAILED'],
      ['denies', 'TOOL_DENIED'],
      ['names', 'TOOL_THREW'],
      ['circles', 'RESULT_UNSERIALISABLE'],
      ['checked', 'ARGUMENTS_INVALID'],
    ])('are masked where a tool repeats them in an error: %s', async (tool, code) => {
      const pin = `${newPin()}x`;
      const { detail, arguments: kept, writeBacks, ...outcome } = await recorded(`${runner}.${tool}`, { pin });
      expect(outcome.error?.code).toBe(code);
      expect(JSON.stringify(outcome)).not.toContain(pin);
      expect(detail).not.toContain(pin);
      expect(kept).toMatch(MARK);
      const mark = MARK.exec(kept!)![0];
      // The message of an exception goes only to the log, and a type that contains a mark is not reported.
      const isWorded = !['throws', 'names'].includes(tool);
      expect([outcome.error?.message.includes(mark), detail?.includes(mark)]).toStrictEqual([isWorded, isWorded]);
      // A file goes to the caller as the tool gave it.
      expect(writeBacks?.files.map(({ bytes }) => Buffer.from(bytes).toString())).toStrictEqual(
        tool === 'says' ? [pin] : undefined,
      );
    });

    it.each([
      ['its own words', 'z', 'TOOL_FAILED'],
      ['the words of its schema', 'y', 'ARGUMENTS_INVALID'],
      ['what its schema throws', 'w', 'TOOL_THREW'],
    ])('are masked as the schema of the tool returned them: %s', async (_, end, code) => {
      const pin = `${newPin()}${end}`;
      const { detail, arguments: kept, ...outcome } = await recorded(`${runner}.normalises`, { pin: ` ${pin} ` });
      expect(outcome.error?.code).toBe(code);
      expect(JSON.stringify([outcome, detail, kept])).not.toContain(pin);
    });

    it.each([
      ['fails', '', 'TOOL_FAILED'],
      ['normalises', 'y', 'ARGUMENTS_INVALID'],
    ])('are masked as an approver replaced them: %s', async (tool, end, code) => {
      const pin = `${newPin()}${end}`;
      const { approval, outcome } = await park(plane, session, `asked-${runner}.${tool}`, { pin: newPin() });
      const { id, binding } = approval.question;
      await plane.client.approvals.reveal(OPERATOR, id, { binding });
      await decide(plane, approval, 'allow-once', { arguments: { pin } });
      const ended = await outcome;
      expect(ended.error?.code).toBe(code);
      expect(ended.error?.message).toMatch(MARK);
      expect(JSON.stringify([ended, await lastRecorded()])).not.toContain(pin);
    });

    it('are masked where a hook quotes them in its question', async () => {
      const pin = newPin();
      const { approval, outcome } = await park(plane, session, `${runner}.quoted`, { pin });
      const { title, description, reasons } = approval.question;
      expect([title, description, ...reasons].map((text) => MARK.test(text))).toStrictEqual([true, true, true]);
      expect(JSON.stringify([title, description, reasons])).not.toContain(pin);
      await decide(plane, approval, 'deny');
      expect(JSON.stringify([await outcome, await lastRecorded()])).not.toContain(pin);
    });

    const repeating: [string, string, (pin: string) => JsonObject][] = [
      ['hooked', 'HOOK_BLOCKED', () => ({})],
      ['fails', 'TOOL_FAILED', () => ({})],
      ['throws', 'TOOL_THREW', () => ({})],
      ['circles', 'RESULT_UNSERIALISABLE', () => ({})],
      ['asks', 'TOOL_THREW', () => ({})],
      ['gets', 'TOOL_FAILED', () => ({})],
      ['strips', 'ARGUMENTS_TRANSFORMED', (pin) => ({ sizes: { [pin]: 1 } })],
    ];
    // What inline code prints goes straight to the worker's own output.
    const masked = repeating.filter(([tool]) => runner === 'process' || tool !== 'throws');

    it.each(masked)('are masked when they have lines, and where they are cut: %s', async (tool, code, more) => {
      const pin = `q8462 first line\n${randomBytes(20).toString('hex')}\tq8462 second line\nq8462 third`;
      const { arguments: kept, ...rest } = await recorded(`${runner}.${tool}`, { pin, ...more(pin) });
      expect(rest.error?.code).toBe(code);
      expect(kept).toMatch(MARK);
      expect(JSON.stringify(rest)).not.toContain('q8462');
      expect(worker.process.stderr).not.toContain('q8462');
    });

    it('are in the result of a call that ended ok, and in a question to the caller', async () => {
      const pin = newPin();
      const { error } = await recorded(`${runner}.asks`, { pin });
      expect(error).toMatchObject({
        code: 'INPUT_REQUIRED',
        facts: { requests: { [pin]: { message: `Is it ${pin}?` } } },
      });
      expect(error?.message).toMatch(MARK);
      expect(await recorded(`${runner}.answers`, { pin })).toMatchObject({ content: [{ kind: 'text', text: pin }] });
    });
  });

  it('are in no log', () => {
    expect(worker.process.stderr).toMatch(/log of \[secret/);
    expect(worker.process.stderr).toMatch(/bad pin \[secret/);
    expect(worker.process.stderr).toMatch(/The tool threw \w+\./);
    // What a schema throws while it normalises is logged by another stage.
    expect(worker.process.stderr).toMatch(/The schema of the tool threw \w+\./);
    const lines = worker.process.stderr.split('\n').filter((line) => line.includes(PREFIX));
    // What inline code prints goes straight to the worker's own output.
    expect(lines.filter((line) => !line.startsWith('print of '))).toStrictEqual([]);
  });
});
