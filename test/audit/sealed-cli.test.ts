import { chmodSync, statSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { planeFolder, type PlaneFolder } from '../cli/plane-folder.ts';
import type { CliResult } from '../cli/run-cli.ts';
import { failOnLeaks } from '../support/reaper.ts';
import type { WatchedProcess } from '../support/watched-process.ts';

afterAll(failOnLeaks);

describe('sallyport audit open', () => {
  let plane: PlaneFolder;
  let dev: WatchedProcess;
  let callId: string;
  let made: CliResult;
  beforeAll(async () => {
    plane = planeFolder();
    made = await plane.cli('audit', 'auditor-key', '--out', 'auditor');
    dev = await plane.start('dev', [], { SALLYPORT_AUDIT_AUDITOR_KEY_FILE: plane.file('auditor/auditor.public.pem') });
    const policy = { permissions: { 'basic.*': { allow: ['*'] }, 'basic.privileged': { allow: ['local'] } } };
    writeFileSync(plane.file('policy.json'), JSON.stringify(policy), { mode: 0o600 });
    await plane.cli('policy', 'set', 'policy.json');
    ({ callId } = (await plane.json('call', 'basic.privileged', '{}')) as { callId: string });
  });
  afterAll(async () => {
    await dev.stop();
    plane.remove();
  });

  const open = (key: string, call = callId) => plane.cli('audit', 'open', '--key', key, '--call', call);
  const OWN = 'auditor/auditor.private.pem';

  it('prints the whole arguments, and as JSON what they belong to', async () => {
    expect([made.code, made.stdout]).toEqual([0, expect.stringContaining('take it off this machine')]);
    expect(await open(OWN)).toMatchObject({ code: 0, stdout: '{}\n' });
    expect(await plane.json('audit', 'open', '--key', OWN, '--call', callId)).toMatchObject({
      callId,
      tool: 'basic.privileged',
      arguments: {},
    });
  });

  it('says clearly why not: another key, the public half, a file that others can read, no such call', async () => {
    await plane.cli('audit', 'auditor-key', '--out', 'other');
    const other = await open('other/auditor.private.pem');
    expect([other.code, other.stderr]).toEqual([
      77,
      expect.stringMatching(/are sealed to the key \w{16}, and this is/),
    ]);
    chmodSync(plane.file('auditor/auditor.public.pem'), 0o600);
    expect((await open('auditor/auditor.public.pem')).stderr).toContain('it holds no private key');
    chmodSync(plane.file('other/auditor.private.pem'), 0o644);
    expect((await open('other/auditor.private.pem')).stderr).toContain('it can be read by other users');
    const unknown = await open(
      OWN,
      callId.replace(/.$/, (last) => (last === 'A' ? 'B' : 'A')),
    );
    expect([unknown.code, unknown.stderr]).toEqual([1, expect.stringContaining('There are no sealed arguments')]);
  });

  it('never makes a pair over one that is there', async () => {
    const before = statSync(plane.file(OWN)).mtimeMs;
    const again = await plane.cli('audit', 'auditor-key', '--out', 'auditor');
    expect([again.code, again.stderr]).toEqual([78, expect.stringContaining('it is there already')]);
    expect(statSync(plane.file(OWN))).toMatchObject({ mtimeMs: before });
    expect(statSync(plane.file(OWN)).mode & 0o777).toBe(0o600);
  });
});
