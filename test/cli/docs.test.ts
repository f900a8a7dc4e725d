import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { spawnNode } from '../support/process.ts';

describe('the generated pages', () => {
  it('docs/errors.md, docs/config.md, docs/events.md, docs/metrics.md and docs/openapi.json say what the sources say', async () => {
    const child = await spawnNode(fileURLToPath(new URL('../../scripts/generate-docs.mjs', import.meta.url)), [
      '--check',
    ]);
    const { code } = await child.exited;
    expect({ code, said: child.stderr }).toStrictEqual({ code: 0, said: '' });
  });
});
