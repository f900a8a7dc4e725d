import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { ModuleDefinition } from '../authoring/define-module.ts';
import { describeModule } from '../authoring/describe-module.ts';
import { moduleUrl } from '../authoring/import-module.ts';
import { offerOwnPackage } from '../../base/own-package.ts';
import { parseWith } from '../authoring/standard-schema.ts';
import type { JsonObject } from '../../base/json.ts';
import { entriesOf } from '../../domain/tool/module.ts';
import type { ToolDeclaration } from '../../domain/tool/tool.ts';
import { describeThrown } from './describe-thrown.ts';
import type { DescribeAnswer, DescribedModule, DescribeRequest } from './describe-protocol.ts';
import { findSchemaFault } from './inspect-schema.ts';
import { compileSchema } from './validate-arguments.ts';

/**
 * The program of the child process in which modules are first imported. If their top-level code hangs, exits or crashes, only this process
 * is affected and not the worker. It has an empty environment.
 */
const send = process.send?.bind(process);
if (send === undefined) throw new Error('This program is started by the module loader.');
const answer = (message: DescribeAnswer): void => void send(message);

process.on('message', (request: DescribeRequest) => {
  answer({ kind: 'importing', ticket: request.ticket });
  void describe(request).then(answer);
});
// The loader ends this process. If the loader itself is gone, the process ends by itself.
process.on('disconnect', () => process.exit());
answer({ kind: 'ready' });

async function describe(request: DescribeRequest): Promise<DescribeAnswer> {
  const { ticket } = request;
  let id: string | undefined;
  try {
    offerOwnPackage(request.file);
    const { default: exported } = (await import(moduleUrl(request))) as { default?: ModuleDefinition };
    id = typeof exported?.id === 'string' ? exported.id.slice(0, 200) : undefined;
    const description = describeModule(exported, request.id === undefined ? {} : { id: request.id });
    const { denials, setupSchema, ...data } = description;
    const problem =
      findToolFault(entriesOf(description)) ?? (await findSetupProblem(exported?.setup, setupSchema, request.setup));
    if (problem !== undefined) return { kind: 'broken', ticket, id: description.id, reason: problem };
    const described: DescribedModule = { ...data, denialPatterns: Object.fromEntries(denials) };
    return { kind: 'described', ticket, json: JSON.stringify(described) };
  } catch (error) {
    const reason = describeThrown(error, request.file, await findSyntaxErrorLine(error, request.file));
    return { kind: 'broken', ticket, ...(id === undefined ? {} : { id }), reason };
  }
}

/** The line of a syntax error. Node does not give it to the program that caught the error, but prints it when it checks the file. */
async function findSyntaxErrorLine(error: unknown, file: string): Promise<string | undefined> {
  if (!(error instanceof SyntaxError)) return undefined;
  const printed = await promisify(execFile)(process.execPath, ['--check', file], { timeout: 3_000 }).then(
    () => '',
    (failure: { stderr?: string }) => failure.stderr ?? '',
  );
  return /^.+:(\d+)$/m.exec(printed.split('\n', 1)[0]!)?.[1];
}

function findToolFault(tools: readonly ToolDeclaration[]): string | undefined {
  for (const tool of tools) {
    for (const [side, schema] of [
      ['input', tool.inputSchema],
      ['output', tool.outputSchema],
    ] as const) {
      const fault = schema === undefined ? undefined : findSchemaFault(schema);
      if (fault !== undefined) return `Tool ${tool.id} has an ${side} schema that cannot be used: ${fault}.`;
    }
  }
  return undefined;
}

async function findSetupProblem(
  schema: unknown,
  published: JsonObject | undefined,
  setup: JsonObject,
): Promise<string | undefined> {
  if (published === undefined)
    return Object.keys(setup).length === 0 ? undefined : 'It has a setup, but the module takes none.';
  const problems = compileSchema(published)(setup);
  // The module's own schema code checks more than its JSON Schema: refinements, transforms.
  const parsed = problems.length > 0 ? undefined : await parseWith(schema, setup);
  if (parsed?.kind === 'issues') problems.push(...parsed.problems);
  return problems.length === 0 ? undefined : `Its setup does not fit: ${problems.join('; ')}.`;
}
