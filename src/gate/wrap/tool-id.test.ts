import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { anyCharacter } from '../../../test/support/any-character.ts';
import { isToolId, toolIdOf } from './tool-id.ts';

const anyName = fc.oneof(
  fc.string({ unit: anyCharacter, minLength: 1 }),
  fc.stringMatching(/^[a./_-]{1,8}$/),
  fc.stringMatching(/^a[a_.]{60,80}$/),
);

describe('toolIdOf', () => {
  it.each(['search', 'web.search', 'server__tool', 'a-b.c_d', 'a'.repeat(64)])('leaves %s as it is', (name) => {
    expect(toolIdOf(name)).toBe(name);
  });

  // The expected parts are written out: rules and approvals name tools by id, so an id must not change between releases.
  it.each([
    ['admin.tools.list', 'admin.tools_list_'],
    ['x/y', 'x_y_'],
    ['m.' + 't'.repeat(70), `m.${'t'.repeat(47)}_`],
    ['日本', 'tool_'],
  ])('maps %s, and keeps what is readable', (name, readable) => {
    const id = toolIdOf(name);
    expect(id.slice(0, -16)).toBe(readable);
    expect(id.slice(-16)).toMatch(/^[0-9a-f]{16}$/);
    expect(toolIdOf(name)).toBe(id);
  });

  it('gives every name an id that rules can name', () => {
    fc.assert(
      fc.property(anyName, (name) => {
        expect(isToolId(toolIdOf(name))).toBe(true);
      }),
    );
  });

  it('gives different names different ids, also names that look already mapped', () => {
    fc.assert(
      fc.property(fc.uniqueArray(anyName, { maxLength: 50 }), (names) => {
        const all = [...new Set([...names, ...names.map(toolIdOf)])];
        const mapped = all.filter((name) => toolIdOf(name) !== name);
        const ids = new Set(all.map(toolIdOf));
        expect(ids.size).toBe(all.length);
        expect(mapped.every((name) => !names.includes(toolIdOf(name)) || names.includes(name))).toBe(true);
      }),
    );
  });
});
