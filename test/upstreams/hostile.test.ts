import { readFileSync } from 'node:fs';
import { afterEach, describe, expect, it } from 'vitest';
import type { RunEnding } from '../../src/domain/ports/tool-runner.ts';
import { eventually } from '../support/process.ts';
import { stageUpstream, type StagedUpstream, type StageOptions } from './support/stage-upstream.ts';

const staged: StagedUpstream[] = [];
afterEach(async () => {
  for (const one of staged.splice(0)) await one.close();
});

async function stage(trick: string, options?: StageOptions): Promise<StagedUpstream> {
  const upstream = await stageUpstream(trick, options);
  staged.push(upstream);
  return upstream;
}

const textOf = (ending: RunEnding): string => {
  if (ending.kind !== 'returned') throw new Error(`the call ended as ${JSON.stringify(ending)}`);
  return (ending.result.content ?? [])
    .map((block) => (block.kind === 'text' ? block.text : `(${block.kind})`))
    .join('');
};
const codeOf = (ending: RunEnding): unknown =>
  ending.kind === 'not-run' ? [ending.outcome.error?.code, ending.outcome.executed] : ending.kind;
const isAlive = (pid: number): boolean => {
  try {
    // A process that has ended and was not waited for yet has the state Z.
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
};

describe('a server that changes what it offers', () => {
  it('is refused for the changed tool once it says so, and not for the others', async () => {
    const upstream = await stage('changes-after-call');
    expect(textOf(await upstream.call())).toBe('done');
    await eventually(() => upstream.refusal() === 'TOOL_QUARANTINED', { what: 'the quarantine' });
    expect(codeOf(await upstream.call())).toStrictEqual(['TOOL_QUARANTINED', 'no']);
    expect(upstream.notes().filter((line) => line.startsWith('call'))).toHaveLength(1);
    expect(upstream.log.join('\n')).toContain('quarantined');
    expect(upstream.seen.get('hostile')?.first).not.toStrictEqual(upstream.seen.get('hostile')?.now);
  });

  it('cannot put the comparison off with notices that never end', async () => {
    const upstream = await stage('changes-under-notices');
    expect(textOf(await upstream.call())).toBe('done');
    await eventually(() => upstream.refusal() === 'TOOL_QUARANTINED', { what: 'the quarantine' });
  });

  it('is refused for a tool that it dropped', async () => {
    const upstream = await stage('drops-after-call');
    await upstream.call();
    await eventually(() => upstream.refusal() === 'TOOL_QUARANTINED', { what: 'the quarantine' });
    expect(upstream.refusal('other')).toBeUndefined();
    expect(textOf(await upstream.call({}, { name: 'other' }))).toBe('done');
  });

  it('does not get a new tool published', async () => {
    const upstream = await stage('adds-after-call');
    await upstream.call();
    await eventually(() => upstream.upstreams.health()[0]!.waiting === 1, { what: 'the new tool to wait' });
    expect(upstream.toolNames()).toStrictEqual(['act']);
  });

  it('is caught when a new connection offers something else than was published', async () => {
    const upstream = await stage('changes-when-listed-again', { limits: { compareMs: 1000 } });
    const other = { identity: { tenant: 'default', subject: 'bob', agent: 'main' } };
    // Each connection of its own lists once, as the first one did; a comparison lists again.
    expect(textOf(await upstream.call({}, other))).toContain('act got');
    upstream.upstreams.follow(async () => undefined);
    await eventually(() => upstream.refusal() === 'TOOL_QUARANTINED', { what: 'the quarantine' });
  });

  it('does not get a call that was judged for another form of the tool', async () => {
    const upstream = await stage('none');
    const [tool] = upstream.upstreams.modules()[0]!.declaration.tools;
    const judged = { tool: { ...tool!, digest: 'of another form' } };
    expect(codeOf(await upstream.call({}, judged))).toStrictEqual(['TOOL_QUARANTINED', 'no']);
    expect(upstream.notes().filter((line) => line.startsWith('call'))).toStrictEqual([]);
  });

  it('is refused only for the user to whom it offers something else', async () => {
    const upstream = await stage('changes-when-asked');
    const bob = { identity: { tenant: 'other', subject: 'bob', agent: 'main' } };
    expect(textOf(await upstream.call({}, bob))).toBe('done');
    expect(textOf(await upstream.call({ text: 'change' }))).toBe('done');
    await eventually(async () => codeOf(await upstream.call())?.toString() === 'TOOL_QUARANTINED,no', {
      what: 'the refusal for the user of the changed connection',
    });
    expect(upstream.refusal()).toBeUndefined();
    expect(textOf(await upstream.call({}, bob))).toBe('done');
  });
});

describe('a server with odd definitions', () => {
  it.each([
    ['twice', 'twice'],
    ['endless-pages', 'pages'],
    ['many', 'definitions'],
    ['lists-nonsense', ''],
    ['speaks-nonsense', ''],
    ['half-pair', 'well-formed'],
  ])('is not published: %s', async (trick, problem) => {
    const upstream = await stage(trick);
    expect(upstream.upstreams.modules()).toStrictEqual([]);
    expect(upstream.upstreams.health()[0]?.problem).toContain(problem);
  });

  it.each(['never-initialises', 'never-lists'])('is given up after its time: %s', async (trick) => {
    const upstream = await stage(trick, { limits: { startMs: 500 } });
    expect(upstream.upstreams.modules()).toStrictEqual([]);
    expect(upstream.upstreams.health()[0]?.problem).toBeTruthy();
    const [started] = upstream.notes();
    expect(isAlive(Number(started!.split(' ')[1]))).toBe(false);
  });

  it('cannot hide its arguments from an approver', async () => {
    const upstream = await stage('hides-argument');
    const [tool] = upstream.upstreams.modules()[0]!.declaration.tools;
    expect(tool!.inputSchema).toStrictEqual({ type: 'object', properties: { command: { type: 'string' } } });
  });

  it('is unsafe and unreviewed with any claim about itself', async () => {
    const upstream = await stage('claims-harmless');
    expect(upstream.upstreams.modules()[0]!.declaration.tools[0]).toMatchObject({ effect: 'unsafe', unreviewed: true });
  });

  it('gets names that Sallyport allows, each a different one', async () => {
    const upstream = await stage('odd-names');
    const names = upstream.toolNames();
    expect(new Set(names).size).toBe(9);
    for (const name of names) expect(name).toMatch(/^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/);
    expect(names.filter((name) => name.startsWith('resource--'))).toStrictEqual([]);
    const odd = names.find((name) => name.startsWith('a-b-'))!;
    expect(textOf(await upstream.call({}, { name: odd }))).toMatch(/^a[/. ]b got/);
  });

  it('has its hidden characters written out', async () => {
    const upstream = await stage('hidden-text');
    expect(upstream.upstreams.modules()[0]!.declaration.tools[0]!.description).toBe(
      'Adds\\u{200b} numbers.\\u{e0041}\\u{202e}',
    );
  });

  it('has tools with unusable schemas left out, and the others published', async () => {
    const upstream = await stage('unusable-schemas');
    expect(upstream.toolNames()).toStrictEqual(['act']);
    expect(upstream.log.filter((line) => line.includes('cannot be published'))).toHaveLength(3);
  });

  it('cannot reach the prototype of objects', async () => {
    const upstream = await stage('proto');
    await upstream.call();
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  });
});

describe('a server that misbehaves in a call', () => {
  it.each([
    ['large-result', { messageBytes: 1024 * 1024 }, 'more than 1048576 bytes'],
    ['endless-line', { messageBytes: 4 * 1024 * 1024 }, 'more than 4194304 bytes'],
    ['garbage', {}, 'not messages'],
    ['exits', {}, 'exit code 3'],
    ['kills-itself', {}, 'SIGKILL'],
    ['deep-foreign-reply', {}, 'cannot be handled'],
    ['memory', { memoryBytes: 512 * 1024 * 1024 }, 'MiB'],
  ])('loses its connection, and the call may have run: %s', async (trick, limits, how) => {
    const upstream = await stage(trick, { limits });
    upstream.upstreams.follow(async () => undefined);
    const ending = await upstream.call();
    expect(codeOf(ending)).toStrictEqual(['UPSTREAM_LOST', 'unknown']);
    expect(ending.kind === 'not-run' && ending.outcome.error?.message).toContain(how);
    // The first process was started to read the definitions; the last one got the call.
    const pid = Number(
      upstream
        .notes()
        .findLast((line) => line.startsWith('start '))!
        .split(' ')[1],
    );
    await eventually(() => !isAlive(pid), { what: 'the end of the process' });
  });

  it.each(['hangs', 'slow-drip', 'endless-progress'])('ends with the time of the call: %s', async (trick) => {
    const upstream = await stage(trick);
    expect(codeOf(await upstream.call({}, { timeoutMs: 1500 }))).toBe('timed-out');
  });

  it('reports no more progress than a person can follow', async () => {
    const upstream = await stage('endless-progress');
    const reports: unknown[] = [];
    await upstream.call({}, { timeoutMs: 1000, onProgress: (one) => void reports.push(one) });
    expect(reports.length).toBeGreaterThan(0);
    expect(reports.length).toBeLessThan(30);
    expect(JSON.stringify(reports).length).toBeLessThan(30_000);
  });

  it.each([
    ['two-replies', 'first'],
    ['foreign-replies', 'done'],
    ['foreign-progress', 'done'],
    ['asks-sampling', 'done'],
    ['greets', 'act got {}'],
  ])('gets one result, its own: %s', async (trick, text) => {
    const upstream = await stage(trick);
    expect(textOf(await upstream.call())).toBe(text);
    expect(textOf(await upstream.call())).toBe(text);
  });

  it('is notified that a call was cancelled, and a late reply changes nothing', async () => {
    const upstream = await stage('late-reply');
    const stop = new AbortController();
    const calling = upstream.call({}, { signal: stop.signal });
    await eventually(() => upstream.notes().some((line) => line.startsWith('call')), { what: 'the call' });
    stop.abort('cancelled');
    expect(codeOf(await calling)).toBe('aborted');
    await eventually(() => upstream.notes().includes('cancelled'), { what: 'the notice' });
  });

  it.each([
    ['phishes', 'e1'],
    ['asks-roots', 'r1'],
  ])('is refused when it asks for what the policy does not allow: %s', async (trick, id) => {
    const upstream = await stage(trick);
    expect(textOf(await upstream.call())).toContain('-32601');
    expect(upstream.notes().some((line) => line.startsWith(`reply ${id} `))).toBe(true);
  });

  it.each(['no-content', 'odd-content', 'deep', 'wrong-output'])(
    'sends a result that is read safely: %s',
    async (trick) => {
      const upstream = await stage(trick);
      expect(['returned', 'unserialisable', 'too-large', 'not-run']).toContain((await upstream.call()).kind);
      // The worker is still there for the next call.
      expect(upstream.upstreams.modules()).toHaveLength(1);
    },
  );

  it('reports a failure as one', async () => {
    const upstream = await stage('reports-failure');
    expect(await upstream.call()).toMatchObject({ kind: 'returned', result: { reportsFailure: true } });
  });
});

describe('a program and its surroundings', () => {
  it('gets the path, the locale, a home of its own and what was declared, and nothing else of the worker', async () => {
    process.env['SALLYPORT_TEST_SECRET'] = 'worker-only';
    try {
      const upstream = await stage('environment', {
        env: { GIVEN: 'yes', TOKEN: '${secret:TOKEN}' },
        secrets: { TOKEN: 'abcd1234efgh' },
      });
      const found = JSON.parse(textOf(await upstream.call())) as Record<string, string>;
      const usual = Object.keys(found).filter(
        (name) => !name.startsWith('LC_') && !['LANG', 'LANGUAGE', 'TZ', 'TMPDIR'].includes(name),
      );
      expect(usual.sort()).toStrictEqual(['GIVEN', 'HOME', 'PATH', 'SALLYPORT_INSTANCE', 'TOKEN']);
      expect(found['HOME']).not.toBe(process.env['HOME']);
      // The token is given to the program, and taken out of what it says.
      expect(found['TOKEN']).toMatch(/^\[secret/);
    } finally {
      delete process.env['SALLYPORT_TEST_SECRET'];
    }
  });

  it('inherits no open file of the worker', async () => {
    const upstream = await stage('descriptors');
    const open = JSON.parse(textOf(await upstream.call())) as string[];
    expect(open.filter((path) => /\.sqlite|\.sock|socket:.*sallyport/.test(path))).toStrictEqual([]);
  });

  it('does not get its secrets into results, errors or the log', async () => {
    const token = 'tok-5f1d9c7a2b';
    const options = { env: { TOKEN: 'secret:TOKEN' }, secrets: { TOKEN: token } };
    const upstream = await stage('repeats-secret', options);
    const ending = await upstream.call();
    expect(JSON.stringify(ending)).not.toContain(token);
    expect(JSON.stringify(ending)).not.toContain(Buffer.from(token).toString('base64').slice(0, 12));
    await eventually(() => upstream.log.some((line) => line.includes('token is')), { what: 'the printed line' });
    expect(upstream.log.join('\n')).not.toContain(token);
    const telling = await stage('repeats-secret-in-texts', options);
    expect(JSON.stringify([...telling.seen])).not.toContain(token);
    expect(JSON.stringify([...telling.seen])).toContain('my token is [secret');
    const refusing = await stage('refuses', options);
    const refused = await refusing.call();
    expect(refused).toMatchObject({ kind: 'refused', how: 'failed', code: 'MCP_-32602' });
    expect(JSON.stringify(refused)).not.toContain(token);
  });

  it('leaves no process behind, also not one that left its group', async () => {
    const upstream = await stage('children');
    const pids = JSON.parse(textOf(await upstream.call())) as number[];
    expect(pids.map(isAlive)).toStrictEqual([true, true, true]);
    await upstream.upstreams.close();
    await eventually(() => !pids.some(isAlive), { what: 'the end of all processes' });
  });

  it('is killed when it does not end by itself', async () => {
    const upstream = await stage('never-ends');
    const pid = Number(upstream.notes()[0]!.split(' ')[1]);
    await upstream.upstreams.close();
    expect(upstream.notes()).toContain('SIGTERM');
    await eventually(() => !isAlive(pid), { what: 'the end of the process' });
  });

  it('cannot flood the log', async () => {
    const upstream = await stage('prints');
    expect(textOf(await upstream.call())).toBe('done');
    expect(upstream.log.join('').length).toBeLessThan(1024 * 1024);
  });

  it('is closed when it was idle, and started again by the next call', async () => {
    const upstream = await stage('none', { limits: { idleMs: 100 } });
    upstream.upstreams.follow(async () => undefined);
    expect(textOf(await upstream.call())).toContain('act got');
    await eventually(() => upstream.upstreams.health()[0]!.connections === 0, {
      what: 'the end of the idle connection',
    });
    expect(textOf(await upstream.call({ text: 'again' }))).toContain('again');
  });

  it('serves each subject from a process of its own, and no more processes than allowed', async () => {
    const upstream = await stage('none', { limits: { instances: 2 } });
    const as = (subject: string, tenant = 'default') => ({ identity: { tenant, subject, agent: 'main' } });
    for (const subject of ['ada', 'bob', 'ada', 'eve']) await upstream.call({}, as(subject));
    await upstream.call({}, as('ada', 'other'));
    expect(upstream.upstreams.health()[0]!.connections).toBe(2);
    expect(upstream.notes().filter((line) => line.startsWith('start')).length).toBeGreaterThanOrEqual(4);
  });
});
