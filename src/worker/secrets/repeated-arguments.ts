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

/** With more values to search for, or more characters in them, a search would take too long. Texts are then withheld instead of masked. */
const MAX_VALUES = 200;
const MAX_CHARACTERS = 256 * 1024;

/** A redactor that also masks secret arguments which a tool repeats in a text. Each gets the same mark as in the redacted arguments. */
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
 * The texts to search for; each of them is replaced by the mark of the value. Next to the value itself these are the value without outer
 * blanks, because a normalising schema often trims it and may quote the rest in an error, and its single lines, because the output of a
 * process is masked line by line.
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
 * A runner that masks secret arguments in what a tool or its schema logs, throws and says about a failure. It takes the arguments from the
 * run itself, so it also masks those that a hook or an approver has changed and the schema refuses. A tool that marks no argument as secret
 * costs one lookup. What a run returns is not changed here: the settle stage masks it if it reports a failure.
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
