import { errorOutcome } from '../../domain/errors/errors.ts';
import type { JsonObject } from '../../base/json.ts';
import { fillReferences, findReferences, type SecretPlace } from '../../domain/secret/secret-reference.ts';
import { declaresSecret, referencesOfSetup } from '../../domain/secret/secret-use.ts';
import type { SecretSource } from '../../domain/ports/secret-source.ts';
import type { RunEnding, RunRequest, SecretAnswer, SecretUse, ToolRunner } from '../../domain/ports/tool-runner.ts';
import { scrubEnding } from './scrub-ending.ts';
import { Taint } from './taint.ts';

/**
 * A runner that replaces references by secrets right before the tool runs, and removes the secrets from everything that the run reports
 * afterwards. All of it happens on the worker's side, so tool code cannot bypass it.
 */
export function withSecrets(runner: ToolRunner, source: SecretSource): ToolRunner {
  return {
    run: (request) =>
      // A run that only normalises arguments (`step`) gets references, as the rules do: the values exist only while the tool runs.
      request.secrets === undefined || request.step !== undefined
        ? runner.run(request)
        : runWithSecrets(request, request.secrets, runner, source),
    close: () => runner.close(),
  };
}

async function runWithSecrets(
  request: RunRequest,
  use: SecretUse,
  runner: ToolRunner,
  source: SecretSource,
): Promise<RunEnding> {
  const startedAt = performance.now();
  const taint = new Taint();
  use.onTaint?.((value) => taint.scrub(value));
  const values = new Map<string, string>();
  for (const [name, place] of namesIn(request)) {
    const answer = await readFor(name, place, request, use, source, taint);
    if (request.signal.aborted) return { kind: 'aborted' };
    if (answer.kind === 'refused') return { kind: 'not-run', outcome: answer.outcome };
    values.set(name, answer.value);
  }
  const valueOf = (name: string): string | undefined => values.get(name);
  const inner: RunRequest = {
    ...guarded(request, taint),
    arguments: fillReferences(request.arguments, valueOf) as JsonObject,
    setup: fillReferences(request.setup, valueOf) as JsonObject,
    timeoutMs: Math.max(1, Math.round(request.timeoutMs - (performance.now() - startedAt))),
    onSecret: (name) => readFor(name, 'own', request, use, source, taint),
  };
  const ending = await runner.run(inner);
  return taint.isEmpty ? ending : scrubEnding(ending, taint, request.tool.limits.maxResultBytes);
}

/**
 * Names of the secrets to read, each once. From the setup, only secrets that this tool declared are read. Other references in the setup
 * stay references.
 */
function namesIn({ arguments: args, setup, tool }: RunRequest): Map<string, SecretPlace> {
  const inSetup = [...referencesOfSetup(setup).names].filter((name) => declaresSecret(tool, name, 'own'));
  const given = [...findReferences(args).names].map((name) => [name, 'arguments'] as const);
  return new Map<string, SecretPlace>([...inSetup.map((name) => [name, 'own'] as const), ...given]);
}

async function readFor(
  name: string,
  place: SecretPlace,
  { tool, signal }: RunRequest,
  use: SecretUse,
  source: SecretSource,
  taint: Taint,
): Promise<SecretAnswer> {
  const refused = use.refuse(name, place);
  if (refused !== undefined) return { kind: 'refused', outcome: refused };
  const read = await source.read(name, signal);
  if (read.kind === 'problem') {
    const outcome = errorOutcome('SECRET_UNAVAILABLE', { tool: tool.id, secret: name, problem: read.problem });
    return { kind: 'refused', outcome };
  }
  taint.add(name, read.value);
  return { kind: 'value', value: read.value };
}

/**
 * Scrubs everything that a run can report while it runs. All members named `on…` are wrapped, so a callback that is added to RunRequest
 * later is scrubbed, too.
 */
function guarded(request: RunRequest, taint: Taint): RunRequest {
  const scrubbed = Object.entries(request).flatMap(([name, member]: [string, unknown]) => {
    if (!/^on[A-Z]/.test(name) || typeof member !== 'function') return [];
    const callback = member as (...given: unknown[]) => unknown;
    return [[name, (...given: unknown[]) => callback(...given.map((one) => taint.scrub(one)))]];
  });
  return {
    ...request,
    ...(Object.fromEntries(scrubbed) as Partial<RunRequest>),
    services: request.services && {
      offered: request.services.offered,
      call: (asked) => request.services!.call(taint.scrub(asked)),
    },
    onProgress: ({ message, ...progress }) =>
      request.onProgress(message === undefined ? progress : { ...progress, message: taint.scrubText(message, true) }),
    onLog: (line) => request.onLog({ ...taint.scrub(line), message: taint.scrubText(line.message, true) }),
    // A nested call gets a reference instead of the value: the store never has the secret, and the other tool gets it only if it is allowed
    // to.
    onNestedCall: (nested, signal) =>
      request.onNestedCall({ ...taint.scrub(nested), arguments: taint.toReferences(nested.arguments) }, signal),
  };
}
