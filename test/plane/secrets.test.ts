import { createHash, randomBytes } from 'node:crypto';
import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/base/json.ts';
import type { SecretProvider } from '../../src/domain/secret/secret-provider.ts';
import type { CallOptions, Outcome, SessionHandle } from '../../src/exports/client.ts';
import { decide, OPERATOR, park } from './support/gate-plane.ts';
import {
  BACKENDS,
  OPEN_POLICY,
  outcomeOf,
  stagePlane,
  type PlaneWorker,
  type StagedPlane,
} from './support/stage-plane.ts';
import { audit } from './support/watch-plane.ts';

const VAULT = fileURLToPath(new URL('../fixtures/secrets-plane/vault.mjs', import.meta.url));
const RUNNERS = ['inline', 'process'] as const;

/** A secret that looks different in each encoding, and whose random part occurs nowhere else. */
const newCanary = (): string => `cän+ry/"${randomBytes(12).toString('hex')}" &x`;

/** Every way in which a canary could be written, as bytes. */
function tracesOf(value: string): Buffer[] {
  const core = /[0-9a-f]{24}/.exec(value)![0];
  const base64 = [0, 1, 2].flatMap((before) => {
    const encoded = Buffer.from('x'.repeat(before) + value).toString('base64');
    const inner = encoded.slice(4, -4);
    return [inner, inner.replaceAll('+', '-').replaceAll('/', '_')];
  });
  // The core is the same in raw, URL-escaped, form-escaped and JSON-escaped form.
  return [core, ...base64, Buffer.from(value).toString('hex')].map((text) => Buffer.from(text));
}

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((path) => statSync(path).isFile());
}

describe.each(BACKENDS)('secrets on %s', (backend) => {
  const canaries = { CANARY: newCanary(), CANARY_FILE: newCanary(), CANARY_COMMAND: newCanary(), DENIED: newCanary() };
  let plane: StagedPlane;
  let worker: PlaneWorker;
  let session: SessionHandle;
  /** Everything that callers received. */
  const told: unknown[] = [];
  let outside: string;

  beforeAll(async () => {
    plane = await stagePlane(backend);
    // This file is outside of the plane's folder, because every value that is found in that folder has leaked.
    outside = join(plane.folder, '..', `sallyport-proof-${randomBytes(6).toString('hex')}`);
    const modules = join(plane.folder, 'modules.json');
    const setup = { key: '${secret:CANARY}', other: 'secret:UNDECLARED' };
    writeFileSync(
      modules,
      JSON.stringify(
        RUNNERS.map((runner) => ({
          id: runner,
          file: VAULT,
          runner,
          setup: { ...setup, prints: runner === 'process' },
        })),
      ),
    );
    writeFileSync(`${outside}.file`, `${canaries.CANARY_FILE}\n`, { mode: 0o600 });
    writeFileSync(`${outside}.command`, canaries.CANARY_COMMAND, { mode: 0o600 });
    const secrets: SecretProvider[] = [
      { environment: ['CANARY', 'DENIED'] },
      { name: 'CANARY_FILE', file: `${outside}.file` },
      { name: 'CANARY_COMMAND', command: ['cat', `${outside}.command`] },
    ];
    process.env['CANARY'] = canaries.CANARY;
    process.env['DENIED'] = canaries.DENIED;
    await plane.setPolicy({
      ...OPEN_POLICY,
      secrets: { main: ['CANARY', 'CANARY_*', 'MISSING', 'UNDECLARED'], other: ['CANARY'] },
      rules: [{ id: 'ask-about', tools: RUNNERS.map((runner) => `${runner}.unsafe`), verdict: 'ask' }],
    });
    worker = await plane.startWorker({ modules, secrets });
    session = await plane.openSession();
  });
  afterAll(async () => {
    delete process.env['CANARY'];
    delete process.env['DENIED'];
    await plane.stop();
    for (const ending of ['file', 'command', 'proof']) rmSync(`${outside}.${ending}`, { force: true });
  });

  async function call(tool: string, args: JsonObject, options: CallOptions = {}): Promise<Outcome> {
    const answer = await plane.client.call(session, tool, args, {
      onEvent: (event) => void told.push(event),
      ...options,
    });
    const outcome = await outcomeOf(plane, session, answer);
    told.push(outcome);
    return outcome;
  }

  interface Proof {
    readonly digest: string;
    readonly leaked: boolean;
  }
  function proofs(): Proof[] {
    try {
      const lines = readFileSync(`${outside}.proof`, 'utf8').split('\n').filter(Boolean);
      return lines.map((line) => JSON.parse(line) as Proof);
    } catch {
      return [];
    }
  }
  const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
  const file = (): string => `${outside}.proof`;
  const sawSince = (before: number): string[] =>
    proofs()
      .slice(before)
      .map(({ digest }) => digest);

  describe.each(RUNNERS)('with the %s runner', (runner) => {
    it('reach the tool, from all providers, whole, nested and inside a command', async () => {
      const before = proofs().length;
      const outcome = await call(`${runner}.echo`, {
        file: file(),
        key: 'secret:CANARY',
        deep: [{ er: ['secret:CANARY_FILE'] }],
        command: 'run ${secret:CANARY_COMMAND}',
      });
      expect(outcome.kind).toBe('ok');
      const { CANARY, CANARY_FILE, CANARY_COMMAND } = canaries;
      expect(sawSince(before)).toStrictEqual([CANARY_COMMAND, CANARY_FILE, CANARY].map(sha256));
      const structured = outcome.structured as { args: JsonObject; forms: string[] };
      expect(structured.args).toStrictEqual({
        key: '[secret CANARY]',
        deep: [{ er: ['[secret CANARY_FILE]'] }],
        command: 'run [secret CANARY_COMMAND]',
      });
      for (const form of structured.forms) expect(form).toMatch(/\[secret CANARY\w*\]/);
      expect(outcome.writeBacks?.files).toHaveLength(2);
      // A tool process gets the values only in its arguments. An inline tool can also find one of them in the worker's environment.
      const mayHaveLeaked = runner === 'inline';
      expect(
        proofs()
          .slice(before)
          .filter(({ leaked }) => leaked && !mayHaveLeaked),
      ).toStrictEqual([]);
    });

    it('reach the tool in its setup, where it declares them', async () => {
      const before = proofs().length;
      const outcome = await call(`${runner}.setup`, { file: file() });
      expect(sawSince(before)).toStrictEqual([sha256(canaries.CANARY)]);
      expect(outcome.structured).toMatchObject({ key: '[secret CANARY]', other: 'secret:UNDECLARED' });
      const without = await call(`${runner}.none`, {});
      expect(without.structured).toMatchObject({ setup: { key: '${secret:CANARY}', other: 'secret:UNDECLARED' } });
    });

    it('are answered to a tool that asks by name, if it may have them', async () => {
      for (const name of ['CANARY', 'CANARY_FILE', 'CANARY_COMMAND'] as const) {
        const before = proofs().length;
        const outcome = await call(`${runner}.ask`, { file: file(), name });
        expect(sawSince(before)).toStrictEqual([sha256(canaries[name])]);
        expect(outcome.structured).toMatchObject({ value: `[secret ${name}]` });
      }
      for (const [name, code] of [
        ['DENIED', 'SECRET_DENIED'],
        ['UNDECLARED', 'SECRET_UNDECLARED'],
      ] as const) {
        const refused = await call(`${runner}.ask`, { file: file(), name });
        expect(refused).toMatchObject({ kind: 'failed', executed: 'yes', error: { facts: { code } } });
      }
    });

    it('are kept out of failures, exceptions and crashes', async () => {
      const failed = await call(`${runner}.fails`, { key: 'secret:CANARY' });
      expect(failed).toMatchObject({ kind: 'failed', error: { code: 'TOOL_FAILED' } });
      expect(failed.error?.message).toContain('[secret CANARY]');
      expect(await call(`${runner}.throws`, { key: 'secret:CANARY' })).toMatchObject({ kind: 'exception' });
      // Inline it would end the worker.
      expect(await call('process.exits', { key: 'secret:CANARY' })).toMatchObject({ kind: 'crashed' });
    });

    it('travel to another tool as references, and only if that one may have them', async () => {
      const before = proofs().length;
      const passed = await call(`${runner}.pass`, { file: file(), key: 'secret:CANARY', to: `${runner}.echo` });
      expect(passed.structured).toMatchObject({ kind: 'ok' });
      expect(sawSince(before)).toStrictEqual([sha256(canaries.CANARY), sha256(canaries.CANARY)]);
      const refused = await call(`${runner}.pass`, { file: file(), key: 'secret:CANARY', to: `${runner}.none` });
      expect(refused.structured).toMatchObject({ kind: 'denied', code: 'SECRET_UNDECLARED' });
    });

    it.each([
      ['none', { a: 'secret:CANARY' }, 'denied', 'SECRET_UNDECLARED'],
      ['echo', { a: ['x ${secret:CANARYS}'] }, 'denied', 'SECRET_UNDECLARED'],
      ['ask', { a: 'secret:DENIED' }, 'denied', 'SECRET_DENIED'],
      ['echo', { a: 'secret:CANARY_MISSING' }, 'invalid', 'SECRET_UNKNOWN'],
      ['echo', { a: 'secret:lower' }, 'invalid', 'SECRET_REFERENCE_INVALID'],
      ['echo', { a: 'b ${secret:}' }, 'invalid', 'SECRET_REFERENCE_INVALID'],
    ] as const)('that may not be used refuse the call of %s with %j', async (tool, args, kind, code) => {
      const before = proofs().length;
      const outcome = await call(`${runner}.${tool}`, { file: file(), ...args } as JsonObject);
      expect(outcome).toMatchObject({ kind, executed: 'no', error: { code } });
      expect(proofs()).toHaveLength(before);
    });

    it('can be written as letters', async () => {
      const outcome = await call(`${runner}.none`, {
        a: 'secret::CANARY',
        b: '$${secret:CANARY}',
        c: 'secret: a word',
      });
      expect(outcome.structured).toMatchObject({
        args: { a: 'secret:CANARY', b: '${secret:CANARY}', c: 'secret: a word' },
      });
    });

    it('are filled in after a person agreed, who saw the reference; no person is asked about a call that may not have them', async () => {
      const before = proofs().length;
      const parked = await park(plane, session, `${runner}.unsafe`, { file: file(), key: 'secret:CANARY' });
      expect(parked.approval.question.arguments).toContain('"key":"secret:CANARY"');
      expect(proofs()).toHaveLength(before);
      await decide(plane, parked.approval, 'allow-once');
      const outcome = await parked.outcome;
      told.push(outcome);
      expect(outcome.structured).toStrictEqual({ echo: '[secret CANARY]' });
      expect(sawSince(before)).toStrictEqual([sha256(canaries.CANARY)]);
      const refused = await call(`${runner}.unsafe`, { file: file(), key: 'secret:DENIED' });
      expect(refused).toMatchObject({ kind: 'denied', error: { code: 'SECRET_UNDECLARED' } });
      // Arguments that an approver has changed are checked again.
      const edited = await park(plane, session, `${runner}.unsafe`, { file: file(), key: 'secret:CANARY' });
      await decide(plane, edited.approval, 'allow-once', { arguments: { file: file(), key: 'secret:DENIED' } });
      expect(await edited.outcome).toMatchObject({
        kind: 'denied',
        executed: 'no',
        error: { code: 'SECRET_UNDECLARED' },
      });
      expect(await plane.client.approvals.list(OPERATOR, { state: 'pending' })).toStrictEqual([]);
    });
  });

  it('are closed to an agent that the policy does not name', async () => {
    const stranger = await plane.client.openSession({ subject: 'alice', agent: 'stranger' });
    const answer = await plane.client.call(stranger, 'inline.fails', { key: 'secret:CANARY' });
    expect(await outcomeOf(plane, stranger, answer)).toMatchObject({
      kind: 'denied',
      error: { code: 'SECRET_DENIED' },
    });
  });

  it('leave no trace in replies, events, audit, logs or the files of the store', async () => {
    // The worker is stopped first, so that nothing is still on its way to a file.
    await worker.process.stop();
    told.push(await audit(plane), await plane.store.listApprovals({ limit: 1000 }), await plane.client.catalog());
    const places = new Map<string, Buffer>([
      ['what callers were told', Buffer.from(inspectable(told))],
      ['standard output', Buffer.from(worker.process.stdout)],
      ['standard error', Buffer.from(worker.process.stderr)],
    ]);
    const folders = [plane.folder, ...(plane.redis === undefined ? [] : [plane.redis.directory])];
    for (const path of folders.flatMap(filesBelow)) places.set(path, readFileSync(path));
    // The marks show that the values would have been logged and stored; without them this test would prove nothing.
    expect(worker.process.stderr).toContain('[secret CANARY]');
    const stored = [...places].filter(([, content]) => content.includes('[secret CANARY]')).map(([place]) => place);
    expect(stored.some((place) => /\.aof$|sqlite/.test(place))).toBe(true);
    expect(told.length).toBeGreaterThan(30);

    const hits = Object.entries(canaries).flatMap(([name, value]) =>
      tracesOf(value).flatMap((trace) =>
        [...places]
          .filter(([, content]) => content.includes(trace))
          .map(([place]) => `${name} as ${trace.toString()} in ${place}`),
      ),
    );
    expect(hits).toStrictEqual([]);
  });
});

/** JSON in which bytes appear as the text that they encode. */
function inspectable(value: unknown): string {
  return JSON.stringify(value, (_, member: unknown) => {
    const bytes = member as { type?: unknown; data?: unknown };
    if (member instanceof Uint8Array) return Buffer.from(member).toString('latin1');
    return bytes?.type === 'Buffer' ? Buffer.from(bytes.data as number[]).toString('latin1') : member;
  });
}
