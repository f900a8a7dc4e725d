import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineModule, tool } from './define-module.ts';
import { prompt, resource } from './define-surfaces.ts';
import { declareModule, describeModule } from './describe-module.ts';

const TOOLS = { look: tool({ description: 'Looks.', input: z.object({}), effect: 'read', run: () => 1 }) };
const ABOUT = { id: 'docs', version: '1.0.0', description: 'Documents.' };
const read = (): string => 'text';
const render = (): string => 'text';

describe('describeModule, of resources and prompts,', () => {
  it('gives entries that are called like tools, beside the tools', () => {
    const { tools, surfaces } = describeModule(
      defineModule({
        ...ABOUT,
        tools: TOOLS,
        resources: [resource({ name: 'page', uriTemplate: 'doc://{page}', read, complete: () => [] })],
        prompts: [prompt({ name: 'ask', arguments: z.object({ topic: z.string() }), render })],
      }),
    );
    expect(tools.map(({ id }) => id)).toStrictEqual(['docs.look']);
    expect(surfaces).toMatchObject([
      {
        id: 'docs.resource--page',
        effect: 'read',
        privileged: false,
        surface: { kind: 'resource', name: 'page', uriTemplate: 'doc://{page}', completes: true },
      },
      {
        id: 'docs.prompt--ask',
        inputSchema: { properties: { arguments: { properties: { topic: { type: 'string' } } } } },
        surface: { kind: 'prompt', name: 'ask', arguments: [{ name: 'topic', required: true }] },
      },
    ]);
  });

  it.each([
    [{ resources: [{ name: 'page', uri: 'doc://a', read, mimeType: 'text/plain' }] }, 'known: name, title'],
    [{ resources: [{ name: 'page', uri: 'doc://a', read, desription: 'A.' }] }, 'did you mean "description"?'],
    [{ prompts: [{ name: 'ask', render, argument: z.object({}) }] }, 'did you mean "arguments"?'],
  ])('refuses members that they do not have: %#', (more, hint) => {
    expect(() => describeModule({ ...ABOUT, tools: TOOLS, ...more })).toThrow(hint);
  });

  it('leaves the digests of modules without any as they are, and changes with each of them', () => {
    const digestOf = (more: object): string =>
      declareModule(describeModule(defineModule({ ...ABOUT, tools: TOOLS, ...more })), 'default').digest;
    const plain = digestOf({});
    expect(digestOf({ resources: [], prompts: [] })).toBe(plain);
    const digests = [
      plain,
      digestOf({ resources: [resource({ name: 'a', uri: 'doc://a', read })] }),
      digestOf({ resources: [resource({ name: 'a', uri: 'doc://b', read })] }),
      digestOf({ resources: [resource({ name: 'a', uri: 'doc://a', title: 'A', read })] }),
      digestOf({ resources: [resource({ name: 'a', uri: 'doc://a', mediaType: 'text/plain', read })] }),
      digestOf({ prompts: [prompt({ name: 'a', render })] }),
    ];
    expect(new Set(digests).size).toBe(digests.length);
  });

  it('takes a module that has no tools', () => {
    const made = describeModule(defineModule({ ...ABOUT, tools: {}, prompts: [prompt({ name: 'ask', render })] }));
    expect(made.surfaces).toHaveLength(1);
    expect(() => describeModule(defineModule({ ...ABOUT, tools: {} }))).toThrow('has 0 tools');
  });

  const definitions = { $defs: { a: { type: 'string' } } };
  it('keeps definitions where references to them lead', () => {
    const input = { type: 'object', properties: { a: { $ref: '#/$defs/a' } }, ...definitions };
    const [entry] = describeModule({
      ...ABOUT,
      tools: {},
      prompts: [{ name: 'ask', arguments: input, render }],
    }).surfaces!;
    expect(entry?.inputSchema).toMatchObject(definitions);
  });

  it.each([
    [{ resources: [{ name: 'a b', uri: 'doc://a', read }] }, 'has the name "a b", which is not usable'],
    [{ resources: [{ name: 'a'.repeat(51), uri: 'doc://a', read }] }, 'which is not usable'],
    [{ resources: [{ name: 'a', read }] }, 'needs either "uri" or "uriTemplate"'],
    [{ resources: [{ name: 'a', uri: 'doc://a', uriTemplate: 'doc://{a}', read }] }, 'needs either'],
    [{ resources: [{ name: 'a', uri: 'relative', read }] }, 'has a "uri" that is no absolute URI'],
    [{ resources: [{ name: 'a', uriTemplate: 'doc://{a}{b}', read }] }, 'two variables have nothing between them'],
    [{ resources: [{ name: 'a', uri: 'doc://a' }] }, 'has no function "read"'],
    [{ resources: [{ name: 'a', uri: 'doc://a', mediaType: 'text', read }] }, 'has a "mediaType" that is none'],
    [{ resources: [{ name: 'a', uri: 'doc://a', title: 'a\u202Eb', read }] }, 'has a "title" that is no text'],
    [{ resources: [{ name: 'a', uri: 'doc://a', complete: 1, read }] }, '"complete" must be a function'],
    [
      {
        resources: [
          { name: 'a', uri: 'doc://a', read },
          { name: 'b', uri: 'doc://a', read },
        ],
      },
      'has doc://a twice',
    ],
    [{ resources: {} }, 'may have a list of up to 1000 resources'],
    [{ resources: [null] }, 'has the name undefined'],
    [{ prompts: [{ name: 'a' }] }, 'has no function "render"'],
    [{ prompts: [{ name: 'a', arguments: { type: 'string' }, render }] }, 'its root type is not "object"'],
    [
      { prompts: [{ name: 'a', arguments: { type: 'object', properties: { a: { $ref: '#' } } }, render }] },
      'it refers to something that is not in its $defs',
    ],
    [{ tools: { 'resource--a': TOOLS.look } }, 'has a name that is kept for resources and prompts'],
  ])('refuses %j', (more, problem) => {
    expect(() => describeModule({ ...ABOUT, tools: TOOLS, ...more })).toThrow(problem);
  });
});
