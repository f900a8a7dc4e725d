import { describe, expect, it } from 'vitest';
import { createGate } from '../../compose/create-gate.ts';
import { PlaneError } from '../../domain/errors/errors.ts';

const echo = { name: 'echo', execute: () => 1 };

describe('options', () => {
  it.each<[string, () => unknown, RegExp]>([
    [
      'rules beside the policy',
      () => createGate({ rules: [] } as object),
      /createGate: rules: .*mean policy: \{ rules \}\?/,
    ],
    ['hook', () => createGate({ hook: [] } as object), /createGate: hook: .*did you mean hooks\?/],
    [
      'an identity',
      () => createGate({ identity: { agnet: 'x' } as object }),
      /identity: there is no agnet .*mean agent\?/,
    ],
    [
      'an approver',
      () => createGate({ approver: { request: () => ({ id: '1' }) } as never }),
      /functions request, wait/,
    ],
    [
      'a subscription',
      () => createGate({ onEvent: { kind: [], listener() {} } as never }),
      /there is no kind .*kinds\?/,
    ],
    ['a log', () => createGate({ log: { info() {} } as never }), /functions debug, info, warn, error/],
    ['no object', () => createGate(null as never), /createGate: expected an object/],
    ['efect', () => createGate().wrapTool(echo, { efect: 'read' } as object), /wrapTool: efect: .*mean effect\?/],
    ['an effect', () => createGate().wrapTool(echo, { effect: 'reed' as never }), /effect: expected one of read/],
    [
      'parameters',
      () => createGate().wrapTool(echo, { parameters: 'id-first' as never }),
      /parameters: expected one of/,
    ],
    ['a module', () => createGate().wrapTool(echo, { module: 'a.b' }), /module: expected a name/],
    ['an id for all', () => createGate().wrapTools({ echo }, { id: 'x' } as object), /wrapTools: id: .*mean module\?/],
    ['a run', () => createGate().openRun({ run: 'x' } as object), /openRun: run: .*did you mean id\?/],
    ['a run id', () => createGate().openRun({ id: '' }), /id: expected a text/],
    ['a trace', () => createGate().openRun({ trace: 7 as never }), /trace: expected a traceparent/],
  ])('with a mistake in %s are refused, with a guess', (_what, make, message) => {
    expect(make).toThrow(message);
    expect(make).toThrow(expect.objectContaining({ code: 'CONFIG_INVALID' }));
    expect(make).toThrow(PlaneError);
  });

  it('that are undefined are left out', () => {
    const gate = createGate({ policy: undefined, log: undefined } as object);
    expect(
      gate
        .openRun({ id: undefined } as object)
        .wrapTool(echo, { effect: undefined } as object)
        .execute(),
    ).toBe(1);
  });

  it('take a module where a rule names tools, as the message says', () => {
    const gate = createGate({ policy: { rules: [{ id: 'no', verdict: 'deny', tools: ['web.*'], reason: 'No' }] } });
    expect(() => gate.wrapTool(echo)).toThrow('say { module } or { id }');
    expect(() => gate.wrapTool(echo, { module: 'web' }).execute()).toThrow('Rule "no" denies');
    expect(gate.wrapTool(echo, { module: 'box' }).execute()).toBe(1);
  });
});
