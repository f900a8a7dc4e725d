import type { JsonObject, JsonValue } from '../../base/json.ts';
import type { Redactor, RepeatedMask } from '../../domain/ports/redactor.ts';
import type { RunRequest, ToolRunner } from '../../domain/ports/tool-runner.ts';
import { andThen } from '../../base/maybe-promise.ts';
import { markedValues, MIN_MARKED } from '../../observe/redact/marked-values.ts';
import { nameSecretsWith } from '../../observe/redact/mask-text.ts';
import type { RedactionKey } from '../../observe/redact/redaction-key.ts';
import { secretsOfSchema, type SchemaPlace } from '../../observe/redact/schema-secrets.ts';
import { scrubFailure } from './scrub-ending.ts';
import { Taint } from './taint.ts';

/** Above either of these a search would take too long, and texts are withheld instead. */
const MAX_VALUES = 200;
const MAX_CHARACTERS = 256 * 1024;

/** A redactor that also masks secret arguments that a tool repeats in a text. They get the same mark there as in the arguments. */
export function findingRepeated(redactor: Redactor, key: RedactionKey): Redactor {
  const nameOf = nameSecretsWith(key);
  return {
    ...redactor,
    repeated: ({ inputSchema }, args) => {
      const schema = secretsOfSchema(inputSchema);
      return schema === undefined ? undefined : new MarkedArguments(args, schema, nameOf);
    },
  };
}

/** The secret values are collected only when the first text has to be searched: most calls do not fail and log nothing. */
class MarkedArguments implements RepeatedMask {
  readonly #args: readonly (JsonObject | string)[];
  readonly #schema: SchemaPlace;
  readonly #nameOf: (secret: string) => string;
  #taint: Taint | 'too many' | undefined;

  constructor(args: readonly (JsonObject | string)[], schema: SchemaPlace, nameOf: (secret: string) => string) {
    this.#args = args;
    this.#schema = schema;
    this.#nameOf = nameOf;
  }

  scrubText(text: string, mayBeCut?: boolean): string {
    const taint = (this.#taint ??= this.#collect());
    return taint === 'too many' ? WITHHELD : taint.scrubText(text, mayBeCut);
  }

  scrub<Value extends JsonValue>(value: Value): Value | JsonObject {
    const taint = (this.#taint ??= this.#collect());
    return taint === 'too many' ? { withheld: WITHHELD } : taint.scrub(value);
  }

  #collect(): Taint | 'too many' {
    const values = new Set<string>();
    const parts = new Map<string, string>();
    for (const args of this.#args) {
      const read = typeof args === 'string' ? parse(args) : args;
      if (read !== undefined) for (const value of markedValues(read, this.#schema)) values.add(value);
    }
    const characters = [...values].reduce((sum, { length }) => sum + length, 0);
    for (const value of values) for (const part of partsOf(value)) if (!parts.has(part)) parts.set(part, value);
    if (parts.size > MAX_VALUES || characters > MAX_CHARACTERS) return 'too many';
    const taint = new Taint();
    for (const [part, value] of parts) taint.add(this.#nameOf(value), part);
    return taint;
  }
}

/**
 * What to search for, all with the mark of the value. A schema that normalises often removes blanks, and may quote what is left when it
 * refuses it. What a process prints is masked line by line.
 */
function partsOf(value: string): string[] {
  const bare = [value, ...value.split('\n')].map((part) => part.trim());
  return [value, ...bare.filter((part) => part.length >= MIN_MARKED)];
}

const WITHHELD = 'not shown: the call has too many secret arguments to search for';

function parse(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return undefined;
  }
}

/**
 * A runner that masks secret arguments in what a tool or its schema logs, throws and says about a failure. It knows the arguments of each
 * run, also those of a hook or an approver that the schema refuses. Tools that mark none cost one lookup. What a run returns stays as it
 * is: settle masks it if it turns out to report a failure.
 */
export function withRepeatedMasked(runner: ToolRunner, { repeated }: Pick<Redactor, 'repeated'>): ToolRunner {
  return {
    run: (request) => {
      const mask = repeated?.(request.tool, [request.arguments]);
      if (mask === undefined) return runner.run(request);
      return andThen(runner.run(maskingLog(request, mask)), (ending) =>
        ending.kind === 'returned' || ending.kind === 'input-required' ? ending : scrubFailure(ending, mask),
      );
    },
    close: () => runner.close(),
  };
}

function maskingLog(request: RunRequest, mask: RepeatedMask): RunRequest {
  return {
    ...request,
    onLog: (line) => {
      // A notice goes to the call's waiters and is not masked: they sent the arguments themselves.
      if (line.notice !== undefined) return request.onLog(line);
      const message = mask.scrubText(line.message, true);
      request.onLog(line.data === undefined ? { ...line, message } : { ...line, message, data: mask.scrub(line.data) });
    },
  };
}
