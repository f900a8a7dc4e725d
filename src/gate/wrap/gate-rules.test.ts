import { jsonSchema, zodSchema, type JSONSchema7 } from 'ai';
import { describe, expect, it } from 'vitest';
import { approving, asking, before, plugin, refusalOf, wrapEcho } from '../../../test/support/gate-tools.ts';
import { z } from 'zod';
import { createGate } from '../../compose/create-gate.ts';
import type { GatePolicy, GateQuestion } from './gate-parts.ts';

const policy: GatePolicy = {
  approvers: ['rita'],
  rules: [
    { id: 'none', verdict: 'deny', arguments: [{ at: '/size', equals: 0 }], reason: 'Nothing is not allowed' },
    {
      id: 'big',
      verdict: 'ask',
      tools: ['box.*'],
      arguments: [{ at: '/size', range: { min: 11 } }],
      reason: 'It is big',
    },
    { id: 'small', verdict: 'allow', arguments: [{ at: '/size', range: { max: 3 } }] },
  ],
};

describe('rules of a gate', () => {
  it('deny before any hook is asked, in the words of the plane', async () => {
    const run = wrapEcho({ policy, hooks: [plugin(before(() => expect.fail('asked')))] });
    expect(await refusalOf(run({ size: 0 }))).toMatchObject({
      code: 'RULE_DENIED',
      kind: 'denied',
      message:
        'Rule "none" denies this call of box.echo: Nothing is not allowed. It did not run; do not repeat it unchanged.',
      by: 'none',
    });
    expect(await wrapEcho({ policy })({ size: 1 })).toStrictEqual({ size: 1 });
  });

  it('ask the approver, with the approvers of the policy', async () => {
    const asked: GateQuestion[] = [];
    const run = wrapEcho({ policy, approver: approving('allow-once', asked) });
    expect(await run({ size: 12 })).toStrictEqual({ size: 12 });
    expect(asked).toMatchObject([
      {
        tool: 'box.echo',
        title: 'Call box.echo',
        reasons: ['rule big: It is big'],
        approvers: [['rita']],
        decisions: ['allow-once', 'allow-always', 'deny'],
        timeoutMs: 120_000,
      },
    ]);
    expect(await refusalOf(wrapEcho({ policy })({ size: 12 }))).toMatchObject({ code: 'APPROVAL_NO_ROUTE' });
  });

  it('close everything that none of them allows, if unmatched says so', async () => {
    const closed = wrapEcho({ policy: { ...policy, unmatched: 'deny' } });
    expect(await closed({ size: 3 })).toStrictEqual({ size: 3 });
    expect(await refusalOf(closed({ size: 5 }))).toMatchObject({ code: 'RULE_DENIED', by: 'unmatched' });
  });

  it('are for agents, subjects and roles of the identity', async () => {
    const rules = [{ id: 'guests', verdict: 'deny' as const, subjects: ['role:guest'], agents: ['helper'] }];
    const of = (subject: string, agent: string) =>
      wrapEcho({ policy: { roles: { guest: ['eve'] }, rules }, identity: { subject, agent } })({ x: 1 });
    expect(await refusalOf(of('eve', 'helper'))).toMatchObject({ by: 'guests' });
    expect(await of('ada', 'helper')).toStrictEqual({ x: 1 });
    expect(await of('eve', 'assistant')).toStrictEqual({ x: 1 });
  });

  it('are asked again about what hooks made of the arguments', async () => {
    const to = (size: number) => [plugin(before(() => ({ patch: { size } })))];
    expect(await refusalOf(wrapEcho({ policy, hooks: to(0) })({ size: 1 }))).toMatchObject({ code: 'RULE_DENIED' });
    const asked: GateQuestion[] = [];
    const grown = wrapEcho({ policy, approver: approving('allow-once', asked), hooks: to(50) });
    expect(await grown({ size: 1 })).toStrictEqual({ size: 50 });
    expect(asked).toMatchObject([{ arguments: { size: 50 }, reasons: ['rule big: It is big'] }]);
    expect(await wrapEcho({ policy, hooks: to(5) })({ size: 50 })).toStrictEqual({ size: 5 });
  });

  it('judge what the schema of the tool makes of a rewrite, and the tool gets just that', async () => {
    const rules = [{ id: 'no-prod', verdict: 'deny' as const, arguments: [{ at: '/to', equals: 'prod!' }] }];
    const inputSchema = z.object({ to: z.string().transform((text) => `${text.trim().toLowerCase()}!`) });
    const run = (to: string) => {
      const gate = createGate({ policy: { rules }, hooks: [plugin(before(() => ({ patch: { to } })))] });
      const execute = async (input: object): Promise<unknown> => input;
      return gate.wrapTool({ inputSchema, execute }, { id: 'box.echo' }).execute({ to: 'x' });
    };
    expect(await refusalOf(run(' PROD'))).toMatchObject({ code: 'RULE_DENIED', by: 'no-prod' });
    expect(await run(' Test')).toStrictEqual({ to: 'test!' });
  });

  it('see the defaults of the schema of the tool, and so does the tool', async () => {
    const rules = [{ id: 'no-prod', verdict: 'deny' as const, arguments: [{ at: '/to', equals: 'prod' }] }];
    const parameters = { type: 'object', properties: { to: { default: 'prod' }, size: { default: 1 } } };
    const execute = async (input?: unknown): Promise<unknown> => input;
    const tool = createGate({ policy: { rules } }).wrapTool({ parameters, execute }, { id: 'box.echo' });
    expect(await refusalOf(tool.execute({}))).toMatchObject({ code: 'RULE_DENIED' });
    expect(await refusalOf(tool.execute())).toMatchObject({ code: 'RULE_DENIED' });
    expect(await refusalOf(tool.execute('{}'))).toMatchObject({ code: 'RULE_DENIED' });
    expect(await tool.execute({ to: 'test' })).toStrictEqual({ to: 'test', size: 1 });
    expect(await tool.execute('{"to":"test"}')).toBe('{"size":1,"to":"test"}');
  });

  describe('that allow only dryRun: true', () => {
    const rules = [{ id: 'dry', verdict: 'allow' as const, arguments: [{ at: '/dryRun', equals: true }] }];
    const gate = createGate({ policy: { rules, unmatched: 'deny' } });
    const plan = z.object({ dryRun: z.boolean().default(true) });
    const input = plan.transform(({ dryRun }) => ({ mode: dryRun ? 'plan' : 'apply' }));
    const sent = z.toJSONSchema(plan, { io: 'input' });
    const enter = async (given?: unknown): Promise<unknown> => given;

    // Each tool is called with `{ mode: 'apply' }`, which is what its schema makes of `{ dryRun: false }`.
    it.each<[string, object]>([
      ['a schema of zod', { inputSchema: input, execute: enter }],
      [
        'a schema that another one follows',
        { inputSchema: input.pipe(z.object({ mode: z.string() })), execute: enter },
      ],
      ['a schema of the AI SDK', { inputSchema: zodSchema(input), execute: enter }],
      ['a helper of Anthropic', { input_schema: sent, parse: (text: unknown) => input.parse(text), run: enter }],
      ['a helper of OpenAI', { function: { parameters: sent }, $parseRaw: JSON.stringify, $callback: enter }],
      ['a function of OpenAI', { function: { parameters: sent, parse: input.parse.bind(input), function: enter } }],
    ])('are not passed by a default of what %s was sent', async (_, tool) => {
      const wrapped = gate.wrapTool(tool, { id: 'box.deploy' }) as Record<string, typeof enter>;
      const inner = wrapped['function'] as unknown as { function?: typeof enter } | undefined;
      const run = wrapped['execute'] ?? wrapped['run'] ?? wrapped['$callback'] ?? inner!.function!;
      expect(await refusalOf(run({ mode: 'apply' }))).toMatchObject({ code: 'RULE_DENIED' });
    });

    it.each<[string, object]>([
      ['a schema that changes nothing else', { inputSchema: plan, execute: enter }],
      ['a schema without code', { inputSchema: jsonSchema(sent as JSONSchema7), execute: enter }],
    ])('see the default of %s', async (_, tool) => {
      const { execute } = gate.wrapTool(tool, { id: 'box.deploy' }) as { execute: typeof enter };
      expect(await execute({})).toStrictEqual({ dryRun: true });
      expect(await refusalOf(execute({ dryRun: false }))).toMatchObject({ code: 'RULE_DENIED' });
    });
  });

  it('and hooks that ask make one question together', async () => {
    const asked: GateQuestion[] = [];
    const hooks = [plugin(asking({ reason: 'I want to look.', severity: 'critical', decisions: ['allow-once'] }))];
    await wrapEcho({ policy, hooks, approver: approving('allow-once', asked) })({ size: 11 });
    expect(asked).toMatchObject([
      {
        reasons: ['hook g.h1: I want to look.', 'rule big: It is big'],
        severity: 'critical',
        decisions: ['allow-once', 'deny'],
        askers: [
          { kind: 'rule', id: 'big' },
          { kind: 'hook', id: 'g.h1' },
        ],
      },
    ]);
  });

  it('do not change when the list that was given does', async () => {
    const rules = [{ id: 'never', verdict: 'deny' as const, tools: ['box.*'] }];
    const gate = createGate({ policy: { rules } });
    rules[0]!.tools[0] = 'other.*';
    rules.pop();
    const echo = gate.wrapTool({ execute: async () => 1 }, { id: 'box.echo' });
    expect(await refusalOf(echo.execute())).toMatchObject({ code: 'RULE_DENIED', by: 'never' });
  });

  it('are only for tools that have a module, if they name any', () => {
    const gate = createGate({ policy });
    expect(() => gate.wrapTool({ name: 'echo', execute: () => 1 })).toThrow(/echo has no module/);
    expect(() => gate.wrapTools({ echo: { execute: () => 1 } }, { module: 'box' })).not.toThrow();
    const everywhere = createGate({ policy: { rules: [{ id: 'all', verdict: 'deny', tools: ['*'] }] } });
    expect(() => everywhere.wrapTool({ name: 'echo', execute: () => 1 }).execute()).toThrow(/Rule "all" denies/);
  });
});

describe('the policy of a gate', () => {
  const problemsOf = (given: unknown, tools?: { id: string }[]): string => {
    try {
      createGate({ policy: given as GatePolicy, ...(tools === undefined ? {} : { tools }) });
    } catch (error) {
      return `${(error as { code: string }).code} ${(error as Error).message}`;
    }
    return 'accepted';
  };

  it.each<[string, unknown, RegExp]>([
    ['no object', [], /policy: expected an object/],
    ['an unknown key', { rulez: [] }, /policy: unknown key "rulez", did you mean "rules"\?/],
    ['what only a plane keeps', { permissions: {} }, /unknown key "permissions"/],
    [
      'a key of a rule',
      { rules: [{ id: 'a', verdct: 'deny' }] },
      /unknown key "verdct" in rules\.0, did you mean "verdict"/,
    ],
    ['a verdict', { rules: [{ id: 'a', verdict: 'block' }] }, /rules\.0\.verdict: expected one of allow, ask, deny/],
    ['a tool', { rules: [{ id: 'a', verdict: 'deny', tools: ['echo'] }] }, /expected module\.tool, module\.\* or \*/],
    [
      'a yes after the time',
      { rules: [{ id: 'a', verdict: 'ask', ask: { onTimeout: 'allow' } }] },
      /nobody answers in time is denied/,
    ],
    ['a role in a role', { roles: { x: ['role:y'] } }, /roles\.x\.0: expected a subject or TENANT\/NAME/],
    ['a role', { rules: [{ id: 'a', verdict: 'deny', subjects: ['role:x'] }] }, /rule "a": there is no role x/],
    [
      'rules that never decide',
      {
        rules: [
          { id: 'a', verdict: 'deny' },
          { id: 'b', verdict: 'allow' },
        ],
      },
      /rule "b": it can never decide/,
    ],
    ['steps of loops', { loops: { default: { repeat: { warn: 9, block: 3 } } } }, /warn 9 must be < block \(3\)/],
    [
      'a key of loops',
      { loops: { default: { repet: false } } },
      /unknown key "repet" in loops\.default, did you mean "repeat"/,
    ],
  ])('is refused for %s, as a policy file is', (_what, given, problem) => {
    expect(problemsOf(given)).toMatch(/^POLICY_INVALID The policy was not accepted: /);
    expect(problemsOf(given)).toMatch(problem);
  });

  it('is compared with the tools, if they are named', () => {
    const given = { rules: [{ id: 'a', verdict: 'deny', tools: ['web.serch'] }] };
    expect(problemsOf(given)).toBe('accepted');
    expect(problemsOf(given, [{ id: 'web.search' }])).toMatch(
      /web\.serch matches no published tool, did you mean web\.search\?/,
    );
  });
});
