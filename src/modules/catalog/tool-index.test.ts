import { describe, expect, it } from 'vitest';
import { toolId } from '../../domain/identity/ids.ts';
import type { JsonObject } from '../../base/json.ts';
import { DEFAULT_LIMITS, type ToolDeclaration } from '../../domain/tool/tool.ts';
import { moduleDigest, toolDigest } from '../../domain/tool/digest.ts';
import type { LoadedModule } from './loaded-module.ts';
import { createToolIndex } from './tool-index.ts';
import { createValidatorCache } from './validate-arguments.ts';

function toolOf(module: string, name: string, more: { input?: JsonObject; output?: JsonObject } = {}): ToolDeclaration {
  const shown = {
    id: toolId(module, name),
    description: 'x',
    inputSchema: more.input ?? { type: 'object' },
    ...(more.output === undefined ? {} : { outputSchema: more.output }),
    effect: 'read' as const,
    privileged: false,
    serial: false,
  };
  return { ...shown, limits: DEFAULT_LIMITS, digest: toolDigest(shown) };
}

function moduleOf(id: string, tools: readonly ToolDeclaration[], generation = 'g1'): LoadedModule {
  const shown = { id, description: 'x', version: '1.0.0', pool: 'default', tools };
  return {
    declaration: { ...shown, digest: moduleDigest(shown) },
    runner: 'inline',
    file: `/modules/${id}.js`,
    generation,
    setup: { root: '/x' },
    denialPatterns: { [`${id}.add`]: ['^no$'] },
  };
}

const stringsOnly = { type: 'object', additionalProperties: { type: 'string' } };

describe('createToolIndex', () => {
  const add = toolOf('notes', 'add', { input: stringsOnly, output: { type: 'string' } });
  const index = createToolIndex([
    moduleOf('notes', [add, toolOf('notes', 'search')]),
    moduleOf('web', [toolOf('web', 'fetch')]),
  ]);

  it('finds a tool by its id, with all that is needed to run it', () => {
    expect(index.find('notes.add')).toMatchObject({
      declaration: add,
      runner: 'inline',
      source: { file: '/modules/notes.js', generation: 'g1', module: 'notes', tool: 'add' },
      setup: { root: '/x' },
      denialPatterns: ['^no$'],
    });
    expect(index.find('notes.search')?.denialPatterns).toStrictEqual([]);
  });

  it.each(['notes', 'notes.none', 'Notes.add', 'notes.add ', '__proto__', 'constructor', ''])(
    'does not find "%s"',
    (id) => {
      expect(index.find(id)).toBeUndefined();
    },
  );

  it('checks arguments and results with the schemas of the tool', () => {
    const tool = index.find('notes.add')!;
    expect(tool.validateInput({ text: 'x' })).toStrictEqual([]);
    expect(tool.validateInput({ text: 1 })).toStrictEqual(['text: must be string']);
    expect(tool.validateOutput?.(1)).toStrictEqual(['value: must be string']);
    expect(index.find('web.fetch')).not.toHaveProperty('validateOutput');
  });

  it('suggests names', () => {
    expect(index.near('notes.serach')).toStrictEqual(['notes.search']);
  });

  it('lists the digests it serves', () => {
    expect(index.toolDigests).toHaveLength(3);
    expect(index.toolDigests).toContain(add.digest);
  });

  it('compiles a schema when its tool is first asked, and keeps it over a reload of the unchanged tool', () => {
    const validators = createValidatorCache();
    const first = createToolIndex([moduleOf('notes', [add])], validators);
    expect(validators.size).toBe(0);
    first.find('notes.add')!.validateInput({});
    expect(validators.size).toBe(1);
    createToolIndex([moduleOf('notes', [add], 'g2')], validators)
      .find('notes.add')!
      .validateInput({});
    expect(validators.size).toBe(1);
  });

  it('leaves a running call its own generation', () => {
    const running = index.find('notes.add')!;
    const reloaded = createToolIndex([moduleOf('notes', [toolOf('notes', 'add')], 'g2')]);
    expect(running.source.generation).toBe('g1');
    expect(running.validateInput({ text: 1 })).not.toStrictEqual([]);
    expect(reloaded.find('notes.add')!.source.generation).toBe('g2');
    expect(Object.isFrozen(running)).toBe(true);
  });
});
