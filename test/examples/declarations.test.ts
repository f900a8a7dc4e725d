import { describe, expect, test } from 'vitest';
import { describeModule } from '../../src/modules/authoring/describe-module.ts';
import { findSchemaFault } from '../../src/modules/catalog/inspect-schema.ts';
import clock from '../../examples/modules/clock/index.ts';
import files from '../../examples/modules/files/index.ts';
import notes from '../../examples/modules/notes/index.ts';
import shell from '../../examples/modules/shell/index.ts';
import web from '../../examples/modules/web/index.ts';

const flags = [clock, files, notes, shell, web].flatMap((module) =>
  describeModule(module).tools.map(({ id, effect, privileged, serial }) =>
    [id, effect, privileged ? 'privileged' : '', serial ? 'serial' : ''].filter(Boolean).join(' '),
  ),
);

describe('example modules', () => {
  test('declare effect, privilege and order of each tool', () => {
    expect(flags).toEqual([
      'clock.now read',
      'clock.sleep read',
      'files.read read',
      'files.write idempotent serial',
      'files.list read',
      'files.stat read',
      'notes.search read',
      'notes.list read',
      'notes.read read',
      'notes.add idempotent serial',
      'notes.edit idempotent serial',
      'notes.share idempotent',
      'notes.delete idempotent serial',
      'shell.run unsafe privileged',
      'web.fetch read',
      'web.send unsafe serial',
    ]);
  });

  test.each([clock, files, notes, shell, web])('$id publishes an output schema for each tool', (module) => {
    const without = describeModule(module).tools.filter((tool) => tool.outputSchema?.['type'] !== 'object');
    expect(without.map((tool) => tool.id)).toEqual([]);
  });

  test.each([clock, files, notes, shell, web])('$id publishes only schemas the catalog accepts', (module) => {
    const { setupSchema, tools } = describeModule(module);
    const schemas = [setupSchema, ...tools.flatMap((tool) => [tool.inputSchema, tool.outputSchema])];
    expect(schemas.flatMap((schema) => (schema === undefined ? [] : (findSchemaFault(schema) ?? [])))).toEqual([]);
  });

  test('shell runs in a process of its own, the others inline', () => {
    expect([clock, files, notes, shell, web].map((module) => describeModule(module).runner)).toEqual([
      'inline',
      'inline',
      'inline',
      'process',
      'inline',
    ]);
  });
});
