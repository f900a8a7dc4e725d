import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually, freePort } from '../support/process.ts';
import { failOnLeaks } from '../support/reaper.ts';
import type { WatchedProcess } from '../support/watched-process.ts';
import { planeFolder, type PlaneFolder } from './plane-folder.ts';
import { jsonOf, MAIN } from './run-cli.ts';

let plane: PlaneFolder;
let dev: WatchedProcess;
beforeAll(async () => {
  plane = planeFolder();
  // The tests below run the commands that dev prints. Without this variable dev prints them with the launcher of this build.
  dev = await plane.start('dev', [], { SALLYPORT_STARTED_AS: undefined });
});
afterAll(async () => {
  await dev.stop();
  plane.remove();
  failOnLeaks();
});

describe('sallyport dev', () => {
  it('says what it serves, where it listens and what to try next', async () => {
    expect(dev.stdout).toMatch(/tools +basic \(\d+\), odd \(2\)/);
    expect(dev.stdout).toMatch(
      /policy {2}everyone may call every tool that is not privileged \(version 1, kept in the store; see: '?\S.*\/sallyport'? policy show\)/,
    );
    const health = /health +(http:\/\/127\.0\.0\.1:\d+)\/readyz/.exec(dev.stdout)?.[1];
    const ready = await fetch(`${health}/readyz`);
    expect(ready.status).toBe(200);
    const { socket, pid } = JSON.parse(readFileSync(plane.file('.sallyport/plane.json'), 'utf8')) as Record<
      string,
      unknown
    >;
    expect(pid).toBe(dev.pid);
    expect(dev.stdout).toContain(String(socket));
  });

  it('suggests a command that works when it is typed', async () => {
    const command = /^ {2}('?\S.*sallyport'? call .*)$/m.exec(dev.stdout)?.[1];
    expect(await plane.shell(command!)).toMatchObject({ code: 0, stderr: '' });
  });

  it('answers a call from a second process', async () => {
    const result = await plane.call('basic.echo', { text: 'hello' });
    expect(result).toMatchObject({ code: 0, stderr: '' });
    expect(jsonOf(result)).toStrictEqual({ text: 'hello' });
  });

  it('L23 is refused in a folder that another process owns', async () => {
    const second = await plane.cli('dev', '--modules', plane.modules);
    expect(second).toMatchObject({ code: 69, stdout: '' });
    expect(second.stderr).toContain(`store.sqlite is in use by process ${dev.pid}.`);
    expect((await plane.call('basic.echo', { text: 'still here' })).code).toBe(0);
  });

  it('F12 is refused on a port that is taken', async () => {
    const port = Number(new URL(/(http:\S+)\/readyz/.exec(dev.stdout)![1]!).port);
    const result = await plane.cli('dev', '--modules', plane.modules, '--folder', 'other', '--port', String(port));
    expect(result.code).toBe(69);
    expect(result.stderr).toContain(`The port ${port} on 127.0.0.1 is taken.`);
  });

  it('keeps privileged tools closed', async () => {
    const result = await plane.call('basic.privileged', {});
    expect(result).toMatchObject({ code: 1, stdout: '' });
    expect(result.stderr).toMatch(/^sallyport: denied \(PERMISSION_DENIED, it did not run\): /);
  });

  it('is found healthy by doctor', async () => {
    const result = await plane.cli('doctor', '--json');
    expect(jsonOf(result)).toMatchObject({ healthy: true });
    expect(result.code).toBe(0);
    const { checks } = jsonOf(result) as { checks: { name: string; found: string }[] };
    const found = Object.fromEntries(checks.map((check) => [check.name, check.found]));
    expect(found).toMatchObject({
      durability: expect.stringContaining('embedded') as string,
      store: 'reachable, 1 lane, not replaced',
      workers: '1 alive in default',
      queue: '0 waiting, 0 with workers',
    });
  });

  it('is listed among the workers', async () => {
    const workers = (await plane.json('workers')) as unknown as { pid: number; state: string }[];
    expect(workers).toMatchObject([{ pid: dev.pid, state: 'serving', pool: 'default' }]);
  });
});

describe('sallyport call', () => {
  it.each([
    ['failure', 1, /failed \(TOOL_FAILED, it ran\): The mailbox is full\./],
    ['denied', 1, /denied \(TOOL_DENIED, it ran\): Not on Sundays\./],
    ['throw', 1, /exception \(TOOL_THREW, it ran\): /],
  ])('ends with 1 and names the outcome of a %s', async (how, code, says) => {
    const result = await plane.call('basic.fails', { how });
    expect(result.code).toBe(code);
    expect(result.stderr).toMatch(says);
    expect(result.stderr).not.toContain('secret detail');
  });

  it('suggests tools for a mistyped one', async () => {
    const result = await plane.call('basic.ecco', {});
    expect(result.code).toBe(1);
    expect(result.stderr).toMatch(/unknown-tool .*Did you mean basic\.echo/s);
  });

  it('refuses wrong arguments with their path', async () => {
    const result = await plane.call('basic.echo', { text: 1 });
    expect(result.code).toBe(1);
    expect(result.stderr).toMatch(/invalid \(ARGUMENTS_INVALID, it did not run\).*text/);
  });

  it('prints JSON and nothing else with --json, also for what is refused', async () => {
    const ended = await plane.json('call', 'basic.fails', '{"how":"failure"}');
    expect(ended).toMatchObject({ callId: expect.any(String) as string, outcome: { kind: 'failed', executed: 'yes' } });
    const refused = await plane.json('call', 'basic.none', '{}');
    expect(refused).toMatchObject({ outcome: { kind: 'unknown-tool', executed: 'no' } });
  });

  it('is the same call under the same key', async () => {
    const args = JSON.stringify({ file: plane.file('once.txt'), line: 'x' });
    const ids = new Set<unknown>();
    for (let time = 0; time < 2; time += 1) {
      ids.add((await plane.json('call', 'basic.write', args, '--key', 'once'))['callId']);
    }
    expect(ids.size).toBe(1);
    expect(readFileSync(plane.file('once.txt'), 'utf8').trim().split('\n')).toHaveLength(1);
    const other = await plane.call('basic.echo', { text: 'x' }, '--key', 'once');
    expect(other.stderr).toContain('conflict (KEY_CONFLICT, it did not run)');
  });

  it('shows progress when asked to', async () => {
    const result = await plane.call('basic.progress', {}, '--progress');
    expect(result.code).toBe(0);
    expect(result.stderr).toMatch(/queued as .*working \d of 3/s);
  });

  it('L21 prints nothing that acts on a terminal', async () => {
    const result = await plane.call('odd.text', {});
    expect(result.stdout).toBe('red \\u{1b}[31m clipboard \\u{1b}]52;c;eA==\\u{7} order \\u{202e} end\n\n');
    const raw = await plane.call('odd.text', {}, '--raw');
    expect(raw.stdout).toContain('\u001b]52;c;eA==\u0007');
  });

  it('saves files only when asked to, under safe names, and overwrites nothing', async () => {
    const args = { name: '../../.bashrc' };
    expect((await plane.call('odd.file', args)).stderr).toContain('file: ');
    const flags = ['--save', 'saved', '--json'];
    const first = jsonOf(await plane.call('odd.file', args, ...flags));
    const second = jsonOf(await plane.call('odd.file', args, ...flags));
    expect([first['saved'], second['saved']]).toStrictEqual([['saved/_bashrc'], ['saved/_bashrc-2']]);
    for (const name of ['saved/_bashrc', 'saved/_bashrc-2']) {
      expect([...readFileSync(plane.file(name))]).toStrictEqual([0, 1, 2, 255]);
    }
  });

  it('L17 stops waiting on Ctrl-C, says the id, and the call goes on', async () => {
    const file = plane.file('interrupted.txt');
    const args = JSON.stringify({ file, line: 'x', ms: 1500 });
    const waiting = await plane.startWaiting('call', 'basic.slowRead', args, '--wait', '1m');
    await plane.untilWritten('interrupted.txt', 'S');
    waiting.kill('SIGINT');
    const { code } = await waiting.exited;
    const callId = waiting.stdout.trim();
    expect(code).toBe(1);
    expect(waiting.stderr).toContain(`sallyport calls wait ${callId}`);
    const ended = await plane.cli('calls', 'wait', callId, '--json');
    expect(ended.code).toBe(0);
    expect(jsonOf(ended)).toMatchObject({ callId, outcome: { kind: 'ok' } });
  });

  it('L18 ends quietly when its reader has enough', async () => {
    const result = await plane.shell(
      `node '${MAIN}' call odd.text '{"times":20000}' | head -c 1; echo " \${PIPESTATUS[0]}"`,
    );
    expect(result).toMatchObject({ code: 0, stdout: 'r 0\n', stderr: '' });
  });

  it('says in one line that its output could not be written', async () => {
    const result = await plane.shell(`node '${MAIN}' help exit-codes > /dev/full`);
    expect(result).toMatchObject({ code: 69, stdout: '' });
    expect(result.stderr).toMatch(/^sallyport: The output could not be written: ENOSPC: .*\.\n$/);
  });

  it('fails when a login link cannot be written: only `gateway` itself goes on without its output', async () => {
    const result = await plane.shell(`node '${MAIN}' gateway login-link --name zed > /dev/full`);
    expect(result).toMatchObject({ code: 69, stdout: '' });
    expect(result.stderr).toContain('sallyport: The output could not be written: ENOSPC: ');
  });

  it.each(['', ' --json'])('says how to take a token back that could not be written, also with "%s"', async (flag) => {
    const result = await plane.shell(`node '${MAIN}' tokens create lost --scope operator${flag} > /dev/full`);
    expect(result.code).toBe(69);
    const id = /tokens revoke ([a-z2-7]{16})$/m.exec(result.stderr)?.[1];
    expect((await plane.cli('tokens', 'revoke', id!)).code).toBe(0);
  });

  it.each([
    ['tokens create unread --scope operator', '>&-'],
    ['tokens create unread --scope operator --json', '> /dev/null'],
    ['sessions open --subject ada', '>&-'],
    ['gateway login-link --name unread', '>&-'],
    ['audit export', '>&-'],
  ])('%s %s makes nothing: it would be lost', async (command, output) => {
    const result = await plane.shell(`node '${MAIN}' ${command} ${output}`);
    expect(result.code).toBe(69);
    expect(result.stderr).toContain('would be lost: standard output is closed or leads to /dev/null.');
    expect((await plane.cli('tokens', 'list')).stdout).not.toContain('unread');
  });

  it('says how to end a session that could not be written', async () => {
    const result = await plane.shell(`node '${MAIN}' sessions open --subject ada > /dev/full`);
    expect(result.code).toBe(69);
    const id = /sessions revoke (\S+)$/m.exec(result.stderr)?.[1];
    expect((await plane.cli('sessions', 'revoke', id!)).code).toBe(0);
  });

  it('leaves no file behind for a session that is refused', async () => {
    const refused = await plane.cli('sessions', 'open', '--subject', 'x'.repeat(300), '--out', 'refused.json');
    expect(refused.code).not.toBe(0);
    expect(existsSync(plane.file('refused.json'))).toBe(false);
  });

  it('mcp fails when its answers cannot be written', async () => {
    const ping = '{"jsonrpc":"2.0","id":1,"method":"ping"}';
    const result = await plane.shell(`echo '${ping}' | node '${MAIN}' mcp --agent cli > /dev/full`);
    expect(result.code).toBe(69);
    expect(result.stderr).toContain('sallyport: The output could not be written: ENOSPC: ');
  });

  it('writes a token to a file when its standard output is closed', async () => {
    const result = await plane.shell(`node '${MAIN}' tokens create ci --scope operator --out ci.token >&-`);
    expect(result.code).toBe(0);
    expect(readFileSync(plane.file('ci.token'), 'utf8')).toMatch(/^spt_/);
  });

  it('store acl and audit auditor-key refuse a file in place of their folder', async () => {
    writeFileSync(plane.file('file'), '');
    for (const command of [
      ['store', 'acl', '--passwords'],
      ['audit', 'auditor-key', '--out'],
    ]) {
      const refused = await plane.cli(...command, 'file');
      expect(refused).toMatchObject({ code: 69, stdout: '' });
      expect(refused.stderr).toContain('Name another file or folder.');
    }
  });

  it('L05 refuses to read arguments from a terminal', async () => {
    const result = await plane.terminal(`node '${MAIN}' call basic.echo @-; echo "exit $?"`);
    expect(result.stdout).toMatch(/Standard input is a terminal\..*exit 2/s);
  });

  it('L21 refuses raw text to a terminal', async () => {
    const result = await plane.terminal(`node '${MAIN}' call odd.text --raw; echo "exit $?"`);
    expect(result.stdout).toMatch(/--raw does not print to a terminal\..*exit 2/s);
  });
});

describe('sallyport calls', () => {
  it('lists, shows and cancels a call that goes on', async () => {
    const args = { file: plane.file('cancelled.txt'), line: 'x', ms: 60_000 };
    const detached = await plane.call('basic.slowWrite', args, '--detach');
    expect(detached.code).toBe(0);
    const callId = detached.stdout.trim();
    await plane.untilWritten('cancelled.txt', 'S');
    const listed = (await plane.json('calls', 'list')) as unknown as { callId: string }[];
    expect(listed).toContainEqual(expect.objectContaining({ callId, tool: 'basic.slowWrite', state: 'running' }));
    expect((await plane.cli('calls', 'list')).stdout).toContain(callId);
    expect((await plane.cli('calls', 'cancel', callId)).stdout).toContain('it was told to stop');
    const ended = await plane.cli('calls', 'wait', callId, '--wait', '30s');
    expect(ended).toMatchObject({ code: 1 });
    expect(ended.stderr).toContain('cancelled (CALL_CANCELLED');
    const shown = await plane.cli('calls', 'show', callId);
    expect(shown.stdout).toMatch(/state +settled/);
    expect(shown.stdout).toMatch(/subject +local \(tenant default\)/);
    expect(shown.stdout).toMatch(/outcome +cancelled, executed: unknown/);
    expect((await plane.cli('calls', 'cancel', callId)).code).toBe(1);
  });

  it.each([['show'], ['wait'], ['cancel'], ['resolve', '--ran']])(
    '%s knows no call that is not there',
    async (verb, ...flags) => {
      for (const id of ['nonsense', '0.aaaaaaaaaaaa.aaaaaaaaaaaaaaaaaaaaaa']) {
        const result = await plane.cli('calls', verb, id, ...flags);
        expect(result).toMatchObject({ code: 1, stdout: '' });
        expect(result.stderr).toContain(`There is no call ${id}`);
      }
    },
  );

  it('resolve refuses a call that is not indeterminate', async () => {
    const { callId } = await plane.json('call', 'basic.echo', '{"text":"x"}');
    const result = await plane.cli('calls', 'resolve', String(callId), '--ran');
    expect(result.code).toBe(1);
    expect(result.stderr).toContain('only an indeterminate call can be resolved');
  });
});

describe('sallyport sessions', () => {
  it('opens a session into a closed file, calls with it, and revokes it', async () => {
    const opened = await plane.cli('sessions', 'open', '--subject', 'ann', '--agent', 'helper', '--out', 'ann.json');
    expect(opened.code).toBe(0);
    expect(statSync(plane.file('ann.json')).mode & 0o777).toBe(0o600);
    const { id, token } = JSON.parse(readFileSync(plane.file('ann.json'), 'utf8')) as Record<string, string>;
    expect(`${opened.stdout}${opened.stderr}`).not.toContain(token);
    const called = await plane.json('call', 'basic.echo', '{"text":"x"}', '--session-file', 'ann.json');
    const shown = await plane.json('calls', 'show', String(called['callId']));
    expect(shown).toMatchObject({ session: id, identity: { subject: 'ann', agent: 'helper' } });
    expect((await plane.cli('sessions', 'list')).stdout).toMatch(new RegExp(`${id} +ann +helper`));
    expect((await plane.cli('sessions', 'revoke', id!)).code).toBe(0);
    const refused = await plane.call('basic.echo', { text: 'x' }, '--session-file', 'ann.json');
    expect(refused.code).toBe(77);
    expect(refused.stderr).toContain('unauthenticated (SESSION_REVOKED');
    expect((await plane.cli('sessions', 'revoke', 'nonsense')).code).toBe(1);
  });

  it('ends one run of a session; the session lives on', async () => {
    await plane.cli('sessions', 'open', '--subject', 'eve', '--out', 'eve.json');
    const { id, run } = JSON.parse(readFileSync(plane.file('eve.json'), 'utf8')) as Record<string, string>;
    expect(await plane.json('sessions', 'end-run', id!, run!)).toStrictEqual({ session: id, run, ended: true });
    const refused = await plane.call('basic.echo', { text: 'x' }, '--session-file', 'eve.json');
    expect(refused.stderr).toContain('unauthenticated (RUN_UNKNOWN');
    expect((await plane.cli('sessions', 'list')).stdout).toMatch(new RegExp(`${id} +eve +.*ends in`));
    const again = await plane.cli('sessions', 'end-run', id!, run!);
    expect(again).toMatchObject({ code: 1, stderr: expect.stringContaining('The session has no run') as string });
    const nowhere = await plane.cli('sessions', 'end-run', 'nonsense', run!);
    expect(nowhere).toMatchObject({ code: 1, stderr: expect.stringContaining('There is no session') as string });
  });

  it('does not overwrite a file', async () => {
    writeFileSync(plane.file('taken.json'), 'x');
    const result = await plane.cli('sessions', 'open', '--subject', 'ann', '--out', 'taken.json');
    expect(result.code).toBe(2);
    expect(readFileSync(plane.file('taken.json'), 'utf8')).toBe('x');
  });
});

describe('sallyport catalog', () => {
  it('lists tools, and shows one with its schema', async () => {
    expect((await plane.cli('catalog')).stdout).toMatch(/basic\.privileged +unsafe +privileged/);
    const shown = await plane.json('catalog', 'show', 'basic.echo');
    expect(shown).toMatchObject({ id: 'basic.echo', effect: 'read', inputSchema: { type: 'object' } });
    const unknown = await plane.cli('catalog', 'show', 'basic.ecco');
    expect(unknown).toMatchObject({ code: 1, stdout: '' });
    expect(unknown.stderr).toContain('Did you mean basic.echo');
  });
});

describe('sallyport dev on its own', () => {
  it('F21 warns of modules that cannot be loaded, and doctor turns red', async () => {
    const other = planeFolder();
    const manifest = JSON.parse(readFileSync(other.modules, 'utf8')) as { modules: object[] };
    manifest.modules.push({ file: other.file('missing.mjs') });
    writeFileSync(other.modules, JSON.stringify(manifest));
    const started = await other.start('dev', ['--port', String(await freePort())]);
    try {
      expect(started.stdout).toMatch(/not loaded +missing \([^)]+\): The file does not exist\./);
      expect((await other.call('basic.echo', { text: 'x' })).code).toBe(0);
      const doctor = await other.cli('doctor');
      expect(doctor.code).toBe(1);
      expect(doctor.stdout).toMatch(/bad +module +missing is not loaded/);
    } finally {
      await started.stop();
      other.remove();
    }
  });
});

describe('sallyport dev with a mistyped path', () => {
  it('names the path, and leaves no new store behind', async () => {
    const other = planeFolder();
    const { code, stderr } = await other.cli('dev', '--modules', 'nope');
    expect(stderr).toMatch(/No modules can be loaded from .*nope: it does not exist\./);
    expect([code, existsSync(other.file('.sallyport'))]).toEqual([78, false]);
    other.remove();
  });
});

describe('sallyport dev with other modules than before', () => {
  const FINE = (id: string): string => `
    export default {
      id: '${id}', version: '1.0.0', description: 'Rolls.',
      tools: { roll: { description: 'Rolls.', effect: 'read', input: { type: 'object' }, run: () => 4 } },
    };`;

  it('withdraws those that it serves no more, and keeps one that is merely broken', { timeout: 180_000 }, async () => {
    const own = planeFolder();
    try {
      const first = await own.start('dev');
      await first.stop();
      mkdirSync(own.file('mine'));
      writeFileSync(own.file('mine/dice.mjs'), FINE('dice'));
      writeFileSync(own.file('mine/odd.mjs'), 'export default {');
      const second = await own.startWaiting('dev', '--modules', own.file('mine'));
      await second.waitForLine(/^Ctrl-C ends it/, 30_000);
      expect(second.stdout).toMatch(/withdrawn +basic: published by an earlier start/);
      const [catalog, rolled, gone, broken, records] = await Promise.all([
        own.json('catalog'),
        own.call('dice.roll', {}),
        own.call('basic.echo', {}),
        own.call('odd.text', {}),
        own.json('audit', 'query', '--event', 'catalog.withdrawn'),
      ]);
      const { modules } = catalog as { modules: { id: string; serving: { state: string } }[] };
      expect(modules.map(({ id, serving }) => [id, serving.state])).toStrictEqual([
        ['dice', 'served'],
        ['odd', 'unserved'],
      ]);
      expect(rolled.stdout).toBe('4\n');
      expect(gone.stderr).toContain('There is no tool "basic.echo".');
      expect(broken.stderr).toContain('odd.text is published, but no live worker serves it.');
      expect(records).toMatchObject([{ via: 'config', changed: ['module basic 1.0.0 withdrawn'] }]);
      await second.stop();
    } finally {
      own.remove();
    }
  });

  it(
    'does so also after it was killed, and as soon as it knows which module was broken',
    { timeout: 180_000 },
    async () => {
      const own = planeFolder();
      try {
        const first = await own.start('dev');
        first.kill('SIGKILL');
        await first.exited;
        mkdirSync(own.file('mine'));
        // The broken file may be one of the published modules, so nothing is withdrawn yet.
        writeFileSync(own.file('mine/dice.mjs'), 'export default {');
        const second = await own.startWaiting('dev', '--modules', own.file('mine'));
        await second.waitForLine(/^Ctrl-C ends it/, 30_000);
        const published = async (): Promise<string[]> =>
          ((await own.json('catalog')) as { modules: { id: string }[] }).modules.map(({ id }) => id);
        expect(await published()).toStrictEqual(['basic', 'odd']);
        writeFileSync(own.file('mine/dice.mjs'), FINE('dice'));
        await second.waitForLine(/withdrawn: published by an earlier start.*basic.*odd/, 30_000);
        await eventually(async () => (await published()).join() === 'dice', { timeoutMs: 30_000, what: 'only dice' });
        await second.stop();
      } finally {
        own.remove();
      }
    },
  );

  it('records that a module left the catalog when its file was deleted under it', { timeout: 180_000 }, async () => {
    const own = planeFolder();
    try {
      mkdirSync(own.file('mine'));
      for (const id of ['cup', 'dice']) writeFileSync(own.file(`mine/${id}.mjs`), FINE(id));
      const running = await own.startWaiting('dev', '--modules', own.file('mine'));
      await running.waitForLine(/^Ctrl-C ends it/);
      rmSync(own.file('mine/cup.mjs'));
      const published = async (): Promise<string[]> =>
        ((await own.json('catalog')) as { modules: { id: string }[] }).modules.map(({ id }) => id);
      await eventually(async () => (await published()).join() === 'dice', { what: 'only dice' });
      expect(await own.json('audit', 'query', '--event', 'catalog.withdrawn')).toMatchObject([
        { via: 'config', changed: ['module cup 1.0.0 withdrawn'], comment: 'its file is gone' },
      ]);
      await running.stop();
    } finally {
      own.remove();
    }
  });

  it(
    'keeps a served module beside a new one that a reader could confuse with it, also after a restart',
    { timeout: 180_000 },
    async () => {
      const own = planeFolder();
      const ids = async (): Promise<string[]> =>
        ((await own.json('catalog')) as { modules: { id: string }[] }).modules.map(({ id }) => id);
      const reported = async (): Promise<string[]> => {
        const { checks } = (await own.json('doctor')) as { checks: { name: string; found: string }[] };
        return checks.filter(({ name }) => name === 'module').map(({ found }) => found);
      };
      const refused = [expect.stringMatching(/^Box is not loaded .*easily confused with "box", which is published\./)];
      try {
        mkdirSync(own.file('mine'));
        writeFileSync(own.file('mine/box.mjs'), FINE('box'));
        const first = await own.startWaiting('dev', '--modules', own.file('mine'));
        await first.waitForLine(/^Ctrl-C ends it/);
        writeFileSync(own.file('mine/Abox.mjs'), FINE('Box'));
        await eventually(async () => (await reported()).length === 1, { what: 'the refused module in doctor' });
        expect([await reported(), await ids()]).toEqual([refused, ['box']]);
        expect((await own.call('box.roll', {})).stdout).toBe('4\n');
        await first.stop();
        const second = await own.startWaiting('dev', '--modules', own.file('mine'));
        await second.waitForLine(/^Ctrl-C ends it/);
        expect(second.stdout).toMatch(/not loaded +Box \(mine\/Abox\.mjs\): /);
        expect([await reported(), await ids()]).toEqual([refused, ['box']]);
        expect((await own.call('box.roll', {})).stdout).toBe('4\n');
        expect((await own.call('Box.roll', {})).stderr).toContain('There is no tool "Box.roll".');
        await second.stop();
      } finally {
        own.remove();
      }
    },
  );

  it('says in doctor that the manifest is missing, and follows it when it is back', { timeout: 180_000 }, async () => {
    const own = planeFolder();
    const missing = async (): Promise<boolean> => {
      const { checks } = (await own.json('doctor')) as { checks: { name: string; found: string }[] };
      return checks.some(({ name, found }) => name === 'module' && /"mine\.json".*does not exist/.test(found));
    };
    try {
      mkdirSync(own.file('mine'));
      for (const id of ['cup', 'dice']) writeFileSync(own.file(`mine/${id}.mjs`), FINE(id));
      writeFileSync(own.file('mine.json'), '[{ "file": "mine/cup.mjs" }, { "file": "mine/dice.mjs" }]');
      const running = await own.startWaiting('dev', '--modules', own.file('mine.json'));
      await running.waitForLine(/^Ctrl-C ends it/);
      rmSync(own.file('mine.json'));
      await eventually(missing, { what: 'the missing manifest in doctor' });
      expect((await own.call('cup.roll', {})).stdout).toBe('4\n');
      writeFileSync(own.file('mine.json'), '[{ "file": "mine/dice.mjs" }]');
      await eventually(async () => (await own.call('cup.roll', {})).code !== 0, { what: 'no cup' });
      expect(await missing()).toBe(false);
      expect((await own.call('dice.roll', {})).stdout).toBe('4\n');
      await running.stop();
    } finally {
      own.remove();
    }
  });

  it.each(['inline', 'process'])(
    'runs a loaded %s module of a manifest on when its file is gone, and doctor says so',
    { timeout: 180_000 },
    async (runner) => {
      const own = planeFolder();
      try {
        mkdirSync(own.file('mine'));
        for (const id of ['cup', 'dice'])
          writeFileSync(own.file(`mine/${id}.mjs`), FINE(id).replace('tools:', `runner: '${runner}', tools:`));
        writeFileSync(own.file('mine.json'), '[{ "file": "mine/cup.mjs" }, { "file": "mine/dice.mjs" }]');
        const running = await own.startWaiting('dev', '--modules', own.file('mine.json'));
        await running.waitForLine(/^Ctrl-C ends it/);
        // `dice` is called before the files are deleted, `cup` only afterwards.
        expect((await own.call('dice.roll', {})).stdout).toBe('4\n');
        for (const id of ['cup', 'dice']) rmSync(own.file(`mine/${id}.mjs`));
        const reported = async (): Promise<unknown[]> => {
          const { checks } = (await own.json('doctor')) as { checks: { name: string; found: string }[] };
          return checks.filter(({ name, found }) => name === 'module' && found.includes('The file does not exist.'));
        };
        await eventually(async () => (await reported()).length === 2, { what: 'both modules in doctor' });
        for (const id of ['cup', 'dice'])
          expect(await own.call(`${id}.roll`, {})).toMatchObject({ code: 0, stdout: '4\n' });
        await running.stop();
      } finally {
        own.remove();
      }
    },
  );

  it(
    'starts without an inline module that cannot be imported here, and serves the others',
    { timeout: 180_000 },
    async () => {
      const own = planeFolder();
      try {
        mkdirSync(own.file('mine'));
        writeFileSync(own.file('mine/dice.mjs'), FINE('dice'));
        // Only the process that reads descriptions has an IPC channel (`process.send`), so the import fails in the worker.
        const sly = `if (process.send === undefined) throw new Error('not in a worker');${FINE('sly')}`;
        writeFileSync(own.file('mine/sly.mjs'), sly.replace('tools:', "runner: 'inline', tools:"));
        const running = await own.startWaiting('dev', '--modules', own.file('mine'));
        await running.waitForLine(/^Ctrl-C ends it/);
        expect(running.stdout).toMatch(/not loaded +sly \([^)]+\): Its import threw Error.*not in a worker/);
        expect((await own.call('dice.roll', {})).stdout).toBe('4\n');
        await running.stop();
      } finally {
        own.remove();
      }
    },
  );
});
