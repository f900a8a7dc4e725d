import { writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { failOnLeaks } from '../support/reaper.ts';
import type { WatchedProcess } from '../support/watched-process.ts';
import { planeFolder, type PlaneFolder } from './plane-folder.ts';

let plane: PlaneFolder;
let dev: WatchedProcess;
beforeAll(async () => {
  plane = planeFolder();
  dev = await plane.start('dev');
});
afterAll(async () => {
  await dev.stop();
  plane.remove();
  failOnLeaks();
});

const write = (policy: object | string, name = 'policy.json'): string => {
  writeFileSync(plane.file(name), typeof policy === 'string' ? policy : JSON.stringify(policy));
  return name;
};
const OPEN = { permissions: { '*': { allow: ['*'] } } };
const echo = (...flags: string[]) => plane.call('basic.echo', { text: 'x' }, ...flags);
const versionNow = async (): Promise<number> => Number((await plane.json('policy', 'show'))['version']);

describe('sallyport policy', () => {
  it('set takes effect on the next call', async () => {
    write({ permissions: { '*': { allow: ['*'] }, 'basic.echo': { allow: ['*'], deny: ['eve'] } } });
    expect((await echo('--subject', 'eve')).code).toBe(0);
    expect((await plane.cli('policy', 'set', 'policy.json')).code).toBe(0);
    const denied = await echo('--subject', 'eve');
    expect(denied.code).toBe(1);
    expect(denied.stderr).toContain('denied (PERMISSION_DENIED');
    expect((await echo('--subject', 'ann')).code).toBe(0);
  });

  it('set opens a privileged tool to whom it names', async () => {
    write({
      roles: { ops: ['ann'] },
      permissions: { '*': { allow: ['*'] }, 'basic.privileged': { allow: ['role:ops'] } },
    });
    expect((await plane.cli('policy', 'set', 'policy.json')).code).toBe(0);
    expect((await plane.call('basic.privileged', {}, '--subject', 'ann')).code).toBe(0);
    expect((await plane.call('basic.privileged', {}, '--subject', 'eve')).code).toBe(1);
  });

  it('set refuses a change made for another version, with both versions', async () => {
    const version = await versionNow();
    write(OPEN);
    const stale = await plane.cli('policy', 'set', 'policy.json', '--expect', String(version - 1));
    expect(stale).toMatchObject({ code: 1, stdout: '' });
    expect(stale.stderr).toContain(
      `The policy is now version ${version}; your change was made for version ${version - 1}.`,
    );
    expect(await versionNow()).toBe(version);
    const set = await plane.json('policy', 'set', 'policy.json', '--expect', String(version));
    expect(set).toMatchObject({ version: version + 1 });
  });

  it('set and check refuse a file that is not understood, and change nothing', async () => {
    const version = await versionNow();
    write('permissions:\n  "*": { alow: ["*"] }\n', 'bad.yaml');
    for (const verb of ['check', 'set']) {
      const result = await plane.cli('policy', verb, 'bad.yaml');
      expect(result).toMatchObject({ code: 78, stdout: '' });
      expect(result.stderr).toContain('bad.yaml:2:10: unknown key "alow" in permissions.*, did you mean "allow"?');
    }
    expect(await versionNow()).toBe(version);
  });

  it('F19 F20 check warns of what is probably not meant; strictly that is an error', async () => {
    write(
      { permissions: { 'basic.eco': { allow: ['*'] }, 'basic.echo': { allow: ['ann'], deny: ['ann'] } } },
      'odd.json',
    );
    const checked = await plane.cli('policy', 'check', 'odd.json');
    expect(checked.code).toBe(0);
    expect(checked.stderr).toContain('permissions.basic.eco matches no published tool, did you mean basic.echo?');
    expect(checked.stderr).toContain('permissions.basic.echo allows and denies ann; deny wins');
    expect((await plane.cli('policy', 'check', 'odd.json', '--strict')).code).toBe(78);
  });

  it('set and check warn when no call can be allowed any more', async () => {
    const closed = 'nothing is allowed: unmatched is deny, and no rule allows or asks';
    write({ permissions: OPEN.permissions, unmatched: 'deny', rules: [] }, 'closed.json');
    expect((await plane.cli('policy', 'check', 'closed.json')).stderr).toContain(closed);
    await plane.cli('policy', 'set', 'closed.json');
    // What a reader of the pages types who wants to take rules back: `unmatched` stays.
    write({ permissions: OPEN.permissions, rules: [] }, 'back.json');
    expect((await plane.cli('policy', 'set', 'back.json')).stderr).toContain(closed);
    expect((await plane.cli('doctor')).stdout).toContain(closed);
    write({ permissions: OPEN.permissions, rules: [], unmatched: 'allow' }, 'open.json');
    expect((await plane.cli('policy', 'set', 'open.json')).stderr).not.toContain(closed);
    expect((await plane.cli('doctor')).stdout).not.toContain(closed);
  });

  it('check works where no store is, and says what it did not compare', async () => {
    write(OPEN);
    const result = await plane.cli('policy', 'check', 'policy.json', '--folder', 'nowhere');
    expect(result.code).toBe(0);
    expect(result.stderr).toContain('not compared with published tools');
  });

  it('show prints a policy that can be set again', async () => {
    const shown = await plane.cli('policy', 'show');
    write(shown.stdout, 'again.json');
    expect((await plane.cli('policy', 'set', 'again.json')).code).toBe(0);
  });
});

describe('sallyport pause', () => {
  it.each([
    { target: ['agent', 'cli'], shown: 'agents cli' },
    { target: ['tool', 'basic.echo'], shown: 'tools basic.echo' },
    { target: ['tool', 'basic.*'], shown: 'tools basic.*' },
    { target: ['all'], shown: 'all calls' },
  ])('refuses the next call of $target until it is resumed', async ({ target, shown }) => {
    expect((await plane.cli('pause', ...target)).stdout).toBe(`Paused: ${shown}.\n`);
    const refused = await echo();
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain('denied (PAUSED, it did not run)');
    const typed = target.map((word) => (word.includes('*') ? `'${word}'` : word)).join(' ');
    expect(refused.stderr).toContain(`Resume with: sallyport pause ${typed} --resume`);
    expect((await plane.cli('pause')).stdout).toBe(`Paused: ${shown}.\n`);
    expect((await plane.cli('pause', ...target, '--resume')).stdout).toBe('Nothing is paused.\n');
    expect((await echo()).code).toBe(0);
  });

  it('keeps the rest of the policy and the other pauses, and can take all back at once', async () => {
    const before = await plane.json('policy', 'show');
    await plane.cli('pause', 'agent', 'a');
    await plane.cli('pause', 'agent', 'b');
    await plane.cli('pause', 'tool', 'basic.echo');
    await plane.cli('pause', 'agent', 'a', '--resume');
    expect(await plane.json('pause')).toMatchObject({ paused: { agents: ['b'], tools: ['basic.echo'] } });
    expect((await plane.cli('pause', '--resume')).code).toBe(0);
    const after = await plane.json('policy', 'show');
    expect(after['policy']).toStrictEqual(before['policy']);
  });

  it('changes nothing when nothing has to be changed, and warns of a tool and of an agent that are not there', async () => {
    const version = await versionNow();
    expect(await plane.json('pause', 'agent', 'nobody', '--resume')).toMatchObject({ changed: false, version });
    const unknown = await plane.cli('pause', 'tool', 'basic.eco');
    expect(unknown.code).toBe(0);
    expect(unknown.stderr).toContain('matches no published tool, did you mean basic.echo?');
    expect((await plane.cli('pause', 'agent', 'nigtly')).stderr).toBe(
      'Take it back with: sallyport pause agent nigtly --resume\n',
    );
    write('agents: { nightly: { selection: [{ module: "*", tools: all }] } }\n', 'agents.yaml');
    await plane.cli('policy', 'set', 'agents.yaml');
    const agent = await plane.cli('pause', 'agent', 'nigtly2');
    expect(agent.code).toBe(0);
    expect(agent.stderr).toContain('paused.agents names nigtly2, which is no declared agent, did you mean nightly?');
    expect((await plane.cli('doctor')).stdout).toContain('paused.agents names nigtly2');
    write('agents: null\npermissions: { "*": { allow: ["*"] } }\n', 'agents.yaml');
    await plane.cli('policy', 'set', 'agents.yaml');
    await plane.cli('pause', '--resume');
  });
});
