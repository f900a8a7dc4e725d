import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readAuditDetail } from '../../src/domain/audit/audit-detail.ts';
import type { JsonObject } from '../../src/base/json.ts';
import type { Outcome, SessionHandle } from '../../src/exports/client.ts';
import { BACKENDS, OPEN_POLICY, stagePlane, type PlaneWorker, type StagedPlane } from './support/stage-plane.ts';
import { audit, callFor } from './support/watch-plane.ts';

const MARKED = fileURLToPath(new URL('../fixtures/secrets-plane/marked.mjs', import.meta.url));
const RUNNERS = ['inline', 'process'] as const;
const MARK = /\[secret [0-9a-f]{8}\]/;

describe.each(BACKENDS)('arguments that a schema marks secret, on %s', (backend) => {
  let plane: StagedPlane;
  let worker: PlaneWorker;
  let session: SessionHandle;

  beforeAll(async () => {
    plane = await stagePlane(backend);
    const modules = join(plane.folder, 'modules.json');
    writeFileSync(modules, JSON.stringify(RUNNERS.map((runner) => ({ id: runner, file: MARKED, runner }))));
    const tools = (name: string): string[] => RUNNERS.map((runner) => `${runner}.${name}`);
    await plane.setPolicy({
      ...OPEN_POLICY,
      permissions: {
        ...OPEN_POLICY.permissions,
        ...Object.fromEntries(tools('closed').map((tool) => [tool, { deny: ['*'] }])),
      },
      paused: { tools: tools('paused') },
    });
    worker = await plane.startWorker({ modules });
    session = await plane.openSession();
  });
  afterAll(() => plane.stop());

  const newPin = (): string => `7391${randomBytes(6).toString('hex')}`;

  /** Makes a call, and returns its outcome and the payload of its last record. */
  async function recorded(tool: string, args: JsonObject): Promise<Outcome & { arguments?: string; detail?: string }> {
    const outcome = await callFor(plane, session, tool, args);
    const { payload } = readAuditDetail((await audit(plane)).at(-1)!.detail);
    return { ...outcome, ...payload };
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
      ['checked', 'ARGUMENTS_INVALID'],
    ])('are masked where a tool repeats them in an error: %s', async (tool, code) => {
      const pin = `${newPin()}x`;
      const { error, ...kept } = await recorded(`${runner}.${tool}`, { pin });
      expect(error?.code).toBe(code);
      expect(JSON.stringify(error)).not.toContain(pin);
      expect(kept.detail).not.toContain(pin);
      expect(kept.arguments).toMatch(MARK);
      // What a tool throws is not in the detail at all.
      expect(kept.detail?.includes(MARK.exec(kept.arguments!)![0])).toBe(tool !== 'throws');
    });
  });

  it('are in no log', () => {
    expect(worker.process.stderr).toMatch(/log of \[secret/);
    expect(worker.process.stderr).toMatch(/bad pin \[secret/);
    const lines = worker.process.stderr.split('\n').filter((line) => line.includes('7391'));
    // What inline code prints goes straight to the worker's own output.
    expect(lines.filter((line) => !line.startsWith('print of '))).toStrictEqual([]);
  });
});
