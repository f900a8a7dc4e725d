import { describe, expect, it } from 'vitest';
import type { JsonValue } from '../../base/json.ts';
import type { Effect } from '../../domain/tool/tool.ts';
import { suggestEffect } from './suggest-effect.ts';

describe('the suggested effect', () => {
  it.each<[JsonValue | undefined, Effect]>([
    [undefined, 'unsafe'],
    [null, 'unsafe'],
    [[], 'unsafe'],
    [{}, 'unsafe'],
    [{ title: 'T' }, 'unsafe'],
    [{ readOnlyHint: true }, 'read'],
    [{ readOnlyHint: true, destructiveHint: false, openWorldHint: true }, 'read'],
    [{ readOnlyHint: true, idempotentHint: true }, 'read'],
    [{ readOnlyHint: true, destructiveHint: true }, 'unsafe'],
    [{ readOnlyHint: true, idempotentHint: false }, 'unsafe'],
    [{ readOnlyHint: 'true' }, 'unsafe'],
    [{ readOnlyHint: 1 }, 'unsafe'],
    [{ readOnlyHint: true, openWorldHint: 'no' }, 'unsafe'],
    [{ readOnlyHint: false }, 'unsafe'],
    [{ readOnlyHint: false, idempotentHint: true, destructiveHint: false }, 'idempotent'],
    [{ idempotentHint: true, destructiveHint: false }, 'idempotent'],
    [{ idempotentHint: true }, 'unsafe'],
    [{ idempotentHint: true, destructiveHint: true }, 'unsafe'],
    [{ idempotentHint: false, destructiveHint: false }, 'unsafe'],
    [{ destructiveHint: false }, 'unsafe'],
  ])('of %j is %s', (annotations, effect) => {
    const found = suggestEffect({ name: 'x', ...(annotations === undefined ? {} : { annotations }) });
    expect(found.effect).toBe(effect);
    expect(found.because).toMatch(/^[A-Z][^.]*\.$/);
  });

  it('is unsafe if the name or the text contradicts the annotations', () => {
    const annotations = { readOnlyHint: true };
    expect(suggestEffect({ name: 'delete_file', annotations })).toStrictEqual({
      effect: 'unsafe',
      because: 'The server says that the tool is harmless, but its name says "delete".',
    });
    expect(suggestEffect({ name: 'x', description: 'Deletes a file.', annotations }).effect).toBe('unsafe');
  });
});
