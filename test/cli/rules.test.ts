import { readFileSync, writeFileSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { failOnLeaks } from '../support/reaper.ts';
import type { WatchedProcess } from '../support/watched-process.ts';
import { planeFolder, type PlaneFolder } from './plane-folder.ts';

const POLICY = `permissions:
  "*": { allow: ["*"] }
unmatched: allow
rules:
  - id: no-secrets
    verdict: deny
    tools: [basic.echo]
    arguments:
      - { at: /text, prefix: "secret " }
    reason: Secrets are not repeated.
  - id: writing
    verdict: ask
    effects: [unsafe]
    ask: { severity: warning, timeoutMs: 3600000 }
`;
/** The policy file with `from` replaced by `to`. */
const changed = (from: string, to: string): string => {
  if (!POLICY.includes(from)) throw new Error(`The policy has no ${from}.`);
  return POLICY.replace(from, to);
};

describe('sallyport policy, with rules', () => {
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
  const write = (text: string, name = 'other.yaml'): string => {
    writeFileSync(plane.file(name), text);
    return name;
  };
  const rulesNow = async (): Promise<unknown[]> => {
    const { policy } = (await plane.json('policy', 'show')) as { policy: { rules?: { id: string }[] } };
    return (policy.rules ?? []).map(({ id }) => id);
  };

  it.each([
    [
      '[basic.echo]',
      '[basic.eco]',
      '7:13: rule "no-secrets": basic.eco matches no published tool, did you mean basic.echo?',
    ],
    [
      '[unsafe]',
      '[unsafe]\n    tools: [basic.echo]',
      '11:5: rule "writing": it can never match: none of its tools has effect unsafe',
    ],
    [
      'prefix: "secret "',
      'range: { min: 1 }',
      '9:9: rule "no-secrets": range cannot judge /text of basic.echo, a text',
    ],
    ['at: /text', 'at: /txt', '9:9: rule "no-secrets": basic.echo has no argument /txt, did you mean /text?'],
  ])('check and set refuse what fits no published tool: %s as %s', async (from, to, problem) => {
    const before = await plane.json('policy', 'show');
    const file = write(changed(from, to));
    for (const verb of ['check', 'set']) {
      const result = await plane.cli('policy', verb, file);
      expect(result).toMatchObject({ code: 78, stdout: '' });
      expect(result.stderr).toContain(`other.yaml:${problem}`);
    }
    expect(await plane.json('policy', 'show')).toStrictEqual(before);
    const elsewhere = await plane.cli('policy', 'check', file, '--folder', 'nowhere');
    expect(elsewhere).toMatchObject({ code: 0 });
    expect(elsewhere.stderr).toContain('not compared with published tools');
  });

  it('check knows the agents in force, and refuses rules that can never match, also without a store', async () => {
    const file = write(changed('tools: [basic.echo]', 'agents: [mian]'));
    expect((await plane.cli('policy', 'check', file)).code).toBe(0);
    await plane.cli('policy', 'set', write('agents: { main: { selection: [{ module: "*", tools: all }] } }', 'a.yaml'));
    const checked = await plane.cli('policy', 'check', file);
    expect(checked.code).toBe(78);
    expect(checked.stderr).toContain(
      'other.yaml:7:14: rule "no-secrets": no agent mian is declared, did you mean main?',
    );
    await plane.cli('policy', 'set', write('agents: null', 'a.yaml'));
    write(changed('prefix: "secret "', 'prefix: ""'));
    expect((await plane.cli('policy', 'check', file, '--folder', 'nowhere')).code).toBe(78);
  });

  it('leaves rules as they are, warns when they no longer apply, and clears them on request', async () => {
    const file = write(
      'permissions: { "*": { allow: ["*"] } }\nagents: { main: { selection: [{ module: "*", tools: all }] } }',
    );
    await plane.cli('policy', 'set', write(changed('tools: [basic.echo]', 'agents: [other]'), 'named.yaml'));
    const set = await plane.cli('policy', 'set', file);
    expect(set.code).toBe(0);
    expect(set.stderr).toContain('rule "no-secrets": no agent other is declared');
    expect(await rulesNow()).toStrictEqual(['no-secrets', 'writing']);
    await plane.cli('policy', 'set', write('rules: []\nagents: null'));
    expect(await rulesNow()).toStrictEqual([]);
  });

  it('reports rules whose agent is gone: when it is removed, and in doctor from then on', async () => {
    const everything = '{ selection: [{ module: "*", tools: all }] }';
    await plane.cli('policy', 'set', write(`agents: { main: ${everything}, robot: ${everything} }`, 'a.yaml'));
    await plane.cli('policy', 'set', write(changed('tools: [basic.echo]', 'agents: [robot]'), 'named.yaml'));
    expect((await plane.cli('doctor')).stdout).toContain('2 rules, compared with');
    const removed = await plane.cli('agents', 'remove', 'robot');
    expect(removed.code).toBe(0);
    expect(removed.stderr).toContain('rule "no-secrets": no agent robot is declared');
    const { stdout } = await plane.cli('doctor');
    expect(stdout).toContain('rule "no-secrets": no agent robot is declared');
    await plane.cli('policy', 'set', write('agents: null', 'a.yaml'));
  });

  it('show prints rules that can be set again', async () => {
    const shown = await plane.cli('policy', 'show');
    write(shown.stdout, 'again.json');
    expect((await plane.cli('policy', 'set', 'again.json')).code).toBe(0);
    expect((await plane.json('policy', 'show'))['policy']).toStrictEqual(JSON.parse(shown.stdout));
  });

  it('explain prints the rule that denies, its line and its reason, and what to change', async () => {
    const result = await plane.cli('explain', 'main', 'basic.echo', '{"text":"secret plan"}');
    expect(result.code).toBe(1);
    expect(result.stdout).toContain('main may not call basic.echo for local\n');
    expect(result.stdout).toMatch(
      /no +rules +"no-secrets" denies it: Secrets are not repeated\. +decides: rules no-secrets in policy version \d+, .*policy\.yaml:5:5/,
    );
    expect(result.stdout).toContain('change or remove the rule "no-secrets"');
    const fine = await plane.cli('explain', 'main', 'basic.echo', '{"text":"plan"}');
    expect(fine).toMatchObject({ code: 0 });
    expect(fine.stdout).toMatch(/ok +rules +none matches: unmatched allows it/);
  });

  it('explain reports that the arguments decide when they are not given, and that a person is asked', async () => {
    const open = await plane.cli('explain', 'main', 'basic.echo');
    expect(open.code).toBe(0);
    expect(open.stdout).toContain('main may call basic.echo for local, depending on its arguments\n');
    expect(open.stdout).toMatch(/ok +rules +depends on the arguments: "no-secrets" \(deny\) +decides\n/);
    const asked = await plane.cli('explain', 'main', 'basic.write');
    expect(asked.stdout).toContain('main may call basic.write for local, once a person has allowed it\n');
    expect(await plane.json('explain', 'main', 'basic.write')).toMatchObject({
      allowed: true,
      verdict: 'ask',
      decidedBy: 'rules',
      checks: expect.arrayContaining([
        {
          check: 'rules',
          passes: true,
          found: '"writing" asks a person',
          rule: ['rules', 'writing'],
          place: expect.stringMatching(/policy\.yaml:11:5$/) as string,
        },
      ]) as unknown,
    });
  });

  it('an unattended session, call or token asks no person, and explain says why', async () => {
    const why = 'the session is unattended, so what asks a person is denied at once unless a grant allows it';
    const explained = await plane.cli('explain', 'main', 'basic.write', '--unattended');
    expect(explained.code).toBe(1);
    expect(explained.stdout).toContain(`"writing" asks a person; ${why}`);
    expect(explained.stdout).toContain('In an attended session a person would be asked.');
    await plane.cli('policy', 'set', write(`${POLICY}unattended: [main]\n`, 'night.yaml'));
    const listed = await plane.cli('explain', 'main', 'basic.write');
    expect(listed.stdout).toContain('agent main runs unattended, so what asks a person is denied at once');
    expect(listed.stdout).toContain('remove main from unattended');
    await plane.cli('policy', 'set', write(`${POLICY}unattended: []\n`, 'night.yaml'));

    await plane.cli('sessions', 'open', '--subject', 'ann', '--unattended', '--out', 'night.json');
    for (const flags of [['--unattended'], ['--session-file', 'night.json']]) {
      const { callId, outcome } = await plane.json('call', 'basic.write', '{"file":"x","line":"y"}', ...flags);
      expect(outcome).toMatchObject({ kind: 'denied', error: { code: 'APPROVAL_DENIED_AT_ONCE' } });
      expect((await plane.cli('calls', 'show', String(callId))).stdout).toContain('the session is unattended');
    }
    const both = await plane.cli('call', 'basic.echo', '{"text":"x"}', '--session-file', 'night.json', '--unattended');
    expect(both).toMatchObject({ code: 2, stderr: expect.stringContaining('--unattended cannot be used') as string });
    expect((await plane.cli('sessions', 'list')).stdout).toMatch(/ann .*unattended/);
    const agent = ['--scope', 'agent', '--agent', 'main', '--subject', 'ann'];
    expect((await plane.cli('tokens', 'create', 'night', ...agent, '--unattended')).code).toBe(0);
    expect((await plane.cli('tokens', 'list')).stdout).toContain('main for default/ann; unattended');
    const refused = await plane.cli('tokens', 'create', 'ops', '--scope', 'operator', '--unattended');
    expect(refused.stderr).toContain('only a token with the scope agent or sessions is unattended');
  });

  it('explain prints the verdict where no rule matches, and no line of a rule that was changed since', async () => {
    await plane.cli(
      'policy',
      'set',
      write(changed('unmatched: allow', 'unmatched: deny').replace('severity: warning, ', '')),
    );
    const denied = await plane.cli('explain', 'main', 'basic.echo', '{"text":"plan"}');
    expect(denied.stdout).toMatch(
      /no +rules +none matches: unmatched denies it +decides: unmatched in policy version \d+\n/,
    );
    expect(denied.stdout).toContain('{"rules":[{"id":"allow-basic-echo","verdict":"allow"');
    const { checks } = (await plane.json('explain', 'main', 'basic.write')) as { checks: Record<string, unknown>[] };
    expect(checks.at(-1)).not.toHaveProperty('place');
  });
});

describe('sallyport dev, with rules', () => {
  let plane: PlaneFolder;
  let dev: WatchedProcess | undefined;
  beforeEach(() => void (plane = planeFolder()));
  afterEach(async () => {
    await dev?.stop();
    dev = undefined;
    plane.remove();
    failOnLeaks();
  });

  it('does not start with a rule about a tool that it does not serve', async () => {
    writeFileSync(plane.file('policy.yaml'), changed('[basic.echo]', '[basic.eco]'));
    const result = await plane.cli('dev', '--modules', plane.modules, '--policy', 'policy.yaml');
    expect(result.code).toBe(78);
    expect(result.stderr).toContain('policy.yaml:7:13: rule "no-secrets": basic.eco matches no published tool');
  });

  it('keeps the rules in force when the file gets one that fits no tool', async () => {
    writeFileSync(plane.file('policy.yaml'), POLICY);
    dev = await plane.start('dev', ['--policy', 'policy.yaml']);
    const before = await plane.json('policy', 'show');
    writeFileSync(plane.file('policy.yaml'), changed('[basic.echo]', '[basic.eco]'));
    await dev.waitForLine(/the new file is not used; the old configuration stays.*/);
    expect(await plane.json('policy', 'show')).toStrictEqual(before);
    writeFileSync(plane.file('policy.yaml'), changed('prefix: "secret "', 'prefix: "hush "'));
    await dev.waitForLine(/policy reloaded/);
    expect(await plane.json('policy', 'show')).not.toStrictEqual(before);
  });

  it('starts with rules about a module that it could not load, and with no others that fit nothing', async () => {
    const manifest = JSON.parse(readFileSync(plane.modules, 'utf8')) as { modules: object[] };
    writeFileSync(plane.file('broken.mjs'), 'throw new Error("no");\n');
    manifest.modules.push({ file: plane.file('broken.mjs'), id: 'broken' });
    writeFileSync(plane.modules, JSON.stringify(manifest));
    writeFileSync(plane.file('policy.yaml'), changed('[basic.echo]', '[basic.eco, broken.tool]'));
    const refused = await plane.cli('dev', '--modules', plane.modules, '--policy', 'policy.yaml');
    expect(refused.code).toBe(78);
    expect(refused.stderr).not.toContain('broken.tool matches');
    writeFileSync(plane.file('policy.yaml'), changed('[basic.echo]', '[basic.echo, broken.tool]'));
    dev = await plane.start('dev', ['--policy', 'policy.yaml']);
    expect(dev.stdout).toMatch(/not loaded +broken/);
    expect(await plane.json('policy', 'show')).toMatchObject({
      policy: { rules: [{ id: 'no-secrets' }, { id: 'writing' }] },
    });
  });
});
