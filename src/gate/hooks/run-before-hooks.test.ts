import { describe, expect, it } from 'vitest';
import { deferred } from '../../../test/support/sample-call.ts';
import { hookedCall, hookSet, recordingNeeds } from '../../../test/support/sample-hooks.ts';
import { errorOutcome } from '../../domain/errors/errors.ts';
import type { BeforeToolCall } from '../../domain/policy/hook.ts';
import type { JsonObject } from '../../base/json.ts';
import { runBeforeHooks } from './run-before-hooks.ts';

const args = (event: unknown): JsonObject => (event as BeforeToolCall).arguments;

describe('hooks before a call', () => {
  it('are asked by priority, the higher first, and equal ones as they were registered', () => {
    const asked: string[] = [];
    const note = (id: string, priority = 0) => ({ id, priority, run: () => void asked.push(id) });
    void runBeforeHooks(
      hookSet(note('a'), note('b', 10), note('c', -5), note('d'), note('e', 10)),
      hookedCall(),
      recordingNeeds(),
    );
    expect(asked).toStrictEqual(['b', 'e', 'a', 'd', 'c']);
  });

  it('each see what the one before made of the arguments, and the last word counts', () => {
    const seen: JsonObject[] = [];
    const verdict = runBeforeHooks(
      hookSet(
        { id: 'first', run: (event) => (seen.push(args(event)), { patch: { path: '/srv/b' } }) },
        {
          id: 'second',
          run: (event) => (seen.push(args(event)), { params: { path: `${args(event)['path'] as string}/c` } }),
        },
        { id: 'third', run: (event) => void seen.push(args(event)) },
      ),
      hookedCall(),
      recordingNeeds(),
    );
    expect(seen).toStrictEqual([{ mode: 'w', path: '/srv/a' }, { mode: 'w', path: '/srv/b' }, { path: '/srv/b/c' }]);
    expect(verdict).toMatchObject({
      kind: 'passed',
      arguments: { path: '/srv/b/c' },
      canonical: '{"path":"/srv/b/c"}',
      changedBy: [
        { hook: 'first', at: ['/path'] },
        { hook: 'second', at: ['/mode', '/path'] },
      ],
      asks: [],
    });
  });

  it('replace all arguments with params, and take members away with null in a patch', () => {
    const given = { path: 'a', options: { deep: { keep: 1, drop: 2 }, list: [1, 2] } };
    const patch = { options: { deep: { drop: null }, list: [3] } };
    const patched = runBeforeHooks(
      hookSet({ id: 'patching', run: () => ({ patch }) }),
      hookedCall({ arguments: given }),
      recordingNeeds(),
    );
    expect(patched).toMatchObject({ canonical: '{"options":{"deep":{"keep":1},"list":[3]},"path":"a"}' });
    expect(patched).toMatchObject({ changedBy: [{ at: ['/options/deep/drop', '/options/list'] }] });
    const replaced = runBeforeHooks(
      hookSet({ id: 'replacing', run: () => ({ params: { path: 'b' } }) }),
      hookedCall({ arguments: given }),
      recordingNeeds(),
    );
    expect(replaced).toMatchObject({ canonical: '{"path":"b"}' });
  });

  it('say what they change by digest and place, and nothing when they change nothing', () => {
    const needs = recordingNeeds();
    const same = runBeforeHooks(
      hookSet({ id: 'same', run: () => ({ params: { mode: 'w', path: '/srv/a' } }) }),
      hookedCall(),
      needs,
    );
    expect(same).toMatchObject({ kind: 'passed', changedBy: [] });
    expect(needs.validated).toStrictEqual([]);
    const secret = runBeforeHooks(
      hookSet({ id: 'other', run: () => ({ patch: { path: 'hunter2' } }) }),
      hookedCall(),
      needs,
    );
    expect(JSON.stringify((secret as { changedBy: unknown }).changedBy)).not.toContain('hunter2');
  });

  it('get frozen copies: neither the caller nor the next hook sees what one does to its event', () => {
    const call = hookedCall({ arguments: { path: 'a', list: [{ x: 1 }] }, trace: '00-trace-span-01' });
    const attempts: boolean[] = [];
    const seen: unknown[] = [];
    const verdict = runBeforeHooks(
      hookSet(
        {
          id: 'vandal',
          run: (event) => {
            const { arguments: given, identity } = event as { arguments: { list: { x: number }[] }; identity: object };
            attempts.push(Reflect.set(given, 'path', 'b'), Reflect.set(given.list[0]!, 'x', 2));
            attempts.push(Reflect.set(given.list, 1, {}), Reflect.set(identity, 'subject', 'eve'));
            seen.push(event);
          },
        },
        { id: 'next', run: (event) => void seen.push(event) },
      ),
      call,
      recordingNeeds(),
    );
    expect(attempts).toStrictEqual([false, false, false, false]);
    expect(seen[1]).toStrictEqual(seen[0]);
    expect(seen[1]).not.toBe(seen[0]);
    expect(seen[1]).toMatchObject({ identity: { subject: 'ada' }, trace: '00-trace-span-01', tool: 'files.write' });
    expect(verdict).toMatchObject({ kind: 'passed', arguments: { path: 'a', list: [{ x: 1 }] } });
  });

  it('have no hold on what they answered: a later change of it has no effect', async () => {
    const params = { path: 'a' };
    const open = deferred();
    const running = runBeforeHooks(
      hookSet(
        { id: 'keeper', run: () => ({ params, requireApproval: { reason: 'look' } }) },
        { id: 'slow', run: () => open.promise },
      ),
      hookedCall(),
      recordingNeeds(),
    );
    params.path = 'changed later';
    open.resolve();
    expect(await running).toMatchObject({ kind: 'passed', arguments: { path: 'a' } });
  });
});

describe('a blocking hook', () => {
  it('ends the call: later hooks are not asked, and no approval is requested', () => {
    const asked: string[] = [];
    const set = hookSet(
      { id: 'asker', run: () => ({ patch: { mode: 'r' }, requireApproval: { reason: 'look' } }) },
      { id: 'blocker', run: () => ({ block: true, reason: 'Not on a Friday.', requireApproval: {} }) },
      { id: 'late', run: () => void asked.push('late') },
    );
    expect(runBeforeHooks(set, hookedCall(), recordingNeeds())).toStrictEqual({
      kind: 'blocked',
      code: 'HOOK_BLOCKED',
      hook: 'blocker',
      reason: 'Not on a Friday.',
    });
    expect(asked).toStrictEqual([]);
  });

  it('needs no reason, and its reason is one line', () => {
    const reasonOf = (answer: unknown) =>
      runBeforeHooks(hookSet({ id: 'guard.x', run: () => answer }), hookedCall(), recordingNeeds());
    expect(reasonOf({ block: true })).toMatchObject({ reason: 'The hook guard.x blocked this call.' });
    expect(reasonOf({ block: true, reason: 'a\n\u001b[31mb\u202e' })).toMatchObject({ reason: 'a [31mb' });
    expect(reasonOf({ block: true, reason: 'x'.repeat(9000) })).toMatchObject({ reason: `${'x'.repeat(499)}…` });
  });

  it('that says block: false has no objection, and cannot take another block back', () => {
    const allowing = hookSet({ id: 'yes', run: () => ({ block: false }) });
    expect(runBeforeHooks(allowing, hookedCall(), recordingNeeds())).toMatchObject({ kind: 'passed', asks: [] });
    const both = hookSet({ id: 'no', run: () => ({ block: true }) }, { id: 'yes', run: () => ({ block: false }) });
    expect(runBeforeHooks(both, hookedCall(), recordingNeeds())).toMatchObject({ kind: 'blocked', hook: 'no' });
  });
});

describe('rewritten arguments', () => {
  it('are validated again, and wrong ones block with the name of the hook that made them', () => {
    const asked: string[] = [];
    const set = hookSet(
      { id: 'clumsy', run: () => ({ patch: { path: null } }) },
      { id: 'late', run: () => void asked.push('late') },
    );
    const verdict = runBeforeHooks(set, hookedCall(), recordingNeeds());
    expect(verdict).toStrictEqual({
      kind: 'blocked',
      code: 'HOOK_ARGUMENTS_INVALID',
      hook: 'clumsy',
      problems: ['path: must be string'],
    });
    expect(asked).toStrictEqual([]);
    const { error } = errorOutcome('HOOK_ARGUMENTS_INVALID', {
      hook: 'clumsy',
      tool: 'files.write',
      problems: ['path: x'],
    });
    expect(error!.message).toContain('the hook clumsy changed the arguments of files.write');
  });

  it('are waited for when the schema takes its time, and a schema that throws closes', async () => {
    const set = hookSet({ id: 'rewriting', run: () => ({ patch: { mode: 'r' } }) });
    const slow = recordingNeeds({ read: () => Promise.resolve({ kind: 'wrong', problems: ['mode: must be w'] }) });
    expect(await runBeforeHooks(set, hookedCall(), slow)).toMatchObject({
      kind: 'blocked',
      problems: ['mode: must be w'],
    });
    const broken = recordingNeeds({ read: () => Promise.reject(new Error('schema')) });
    expect(await runBeforeHooks(set, hookedCall(), broken)).toStrictEqual({ kind: 'failed', hook: 'rewriting' });
  });

  it('and a request for approval go together', () => {
    const set = hookSet(
      { id: 'both', run: () => ({ patch: { mode: 'r' }, requireApproval: { reason: 'A person should look.' } }) },
      { id: 'after', run: (event) => ({ patch: { seen: args(event)['mode']! } }) },
    );
    expect(runBeforeHooks(set, hookedCall(), recordingNeeds())).toMatchObject({
      kind: 'passed',
      arguments: { path: '/srv/a', mode: 'r', seen: 'r' },
      asks: [{ asker: { kind: 'hook', id: 'both', grantable: false }, reason: 'A person should look.' }],
    });
  });
});

describe('a tool without hooks', () => {
  it('is answered at once, and its arguments are not even looked at', () => {
    const untouchable = new Proxy({}, { get: () => expect.fail('looked at'), ownKeys: () => expect.fail('looked at') });
    const call = hookedCall({ canonical: '{}', arguments: untouchable as JsonObject });
    const set = hookSet({ id: 'other', match: { tools: ['web.fetch'] }, run: () => ({ block: true }) });
    const verdict = runBeforeHooks(set, call, recordingNeeds());
    expect(verdict).not.toBeInstanceOf(Promise);
    expect(Object.is((verdict as { arguments: unknown }).arguments, untouchable)).toBe(true);
    const list = set.matching('before_tool_call', call.tool);
    expect(list).toStrictEqual([]);
    expect(Object.isFrozen(list)).toBe(true);
    expect(set.matching('before_tool_call', { ...call.tool, id: 'clock.now' })).toBe(list);
  });

  it('gets them when a reload changed its effect', () => {
    const set = hookSet({ id: 'unsafe-only', match: { effects: ['unsafe'] }, run: () => ({ block: true }) });
    const tool = { id: 'files.write', privileged: false };
    expect(set.matching('before_tool_call', { ...tool, effect: 'read' })).toHaveLength(0);
    expect(set.matching('before_tool_call', { ...tool, effect: 'unsafe' })).toHaveLength(1);
  });
});

describe('matchers', () => {
  it.each([
    [{ tools: ['files.write'] }, true],
    [{ tools: ['files.*'] }, true],
    [{ tools: ['*'] }, true],
    [{}, true],
    [{ effects: ['unsafe' as const] }, true],
    [{ tools: ['files.*'], effects: ['unsafe' as const] }, true],
    [{ tools: ['files.read'] }, false],
    [{ tools: ['file.*'] }, false],
    [{ tools: ['Files.write'] }, false],
    [{ effects: ['read' as const, 'idempotent' as const] }, false],
    [{ tools: ['files.*'], effects: ['read' as const] }, false],
  ])('%j decide about files.write: %s', (match, fires) => {
    const verdict = runBeforeHooks(
      hookSet({ id: 'm', match, run: () => ({ block: true }) }),
      hookedCall(),
      recordingNeeds(),
    );
    expect(verdict).toMatchObject({ kind: fires ? 'blocked' : 'passed' });
  });
});

describe('a stopped call', () => {
  it('does not wait for its hooks, aborts their signal, and leaves no listener', async () => {
    const controller = new AbortController();
    const told = deferred<unknown>();
    const entered = deferred();
    const set = hookSet({
      id: 'waiting',
      run: (_event, { signal }) => {
        signal.addEventListener('abort', () => told.resolve(signal.reason));
        entered.resolve();
        return new Promise(() => {});
      },
    });
    let listeners = 0;
    const { signal } = controller;
    const counted = {
      get aborted() {
        return signal.aborted;
      },
      get reason() {
        return signal.reason as unknown;
      },
      addEventListener: (type: 'abort', listener: () => void) => (
        (listeners += 1),
        signal.addEventListener(type, listener)
      ),
      removeEventListener: (type: 'abort', listener: () => void) => (
        (listeners -= 1),
        signal.removeEventListener(type, listener)
      ),
    };
    const running = runBeforeHooks(set, hookedCall({ signal: counted }), recordingNeeds());
    await entered.promise;
    expect(listeners).toBe(1);
    controller.abort('cancelled');
    expect(await running).toStrictEqual({ kind: 'aborted' });
    expect(await told.promise).toBe('cancelled');
    expect(listeners).toBe(0);
  });

  it('asks no hook at all', () => {
    const set = hookSet({ id: 'never', run: () => expect.fail('asked') });
    const call = hookedCall({ signal: AbortSignal.abort('lost') });
    expect(runBeforeHooks(set, call, recordingNeeds())).toStrictEqual({ kind: 'aborted' });
  });
});
