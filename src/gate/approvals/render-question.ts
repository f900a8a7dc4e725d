import type { ApprovalQuestion } from '../../domain/approval.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../domain/json.ts';
import { canonicalJson } from '../../wire/canonical-json.ts';
import { escapeHidden, toVisibleJsonString } from '../../wire/escape-text.ts';
import { parseStrictJson } from '../../wire/strict-json.ts';
import { argumentsDigest } from './binding.ts';

/** Says which values are not to be shown, by JSON pointer and value; a text is shown in place of the value. */
export type Redact = (pointer: string, value: JsonValue) => boolean | string;

/**
 * What a person sees before they decide. Made from the bytes that would run, never from what an asker says about them. Nothing is left
 * out or shortened; what cannot be seen is spelled out; what must not be seen is marked, with its size.
 */
export interface RenderedQuestion {
  readonly title: string;
  readonly description: string;
  readonly reasons: readonly string[];
  readonly detail?: string;
  readonly severity: ApprovalQuestion['severity'];
  readonly tool: string;
  readonly toolDigest: string;
  readonly requester: string;
  readonly askers: readonly string[];
  readonly arguments: RenderedArguments;
  readonly decisions: ApprovalQuestion['decisions'];
  readonly quorum: number;
  /** What a decision has to name. */
  readonly binding: string;
}

export interface RenderedArguments {
  /** JSON with a line per value; where nothing is redacted, it means exactly what runs. */
  readonly text: string;
  /** Of the canonical form, which is what runs. */
  readonly bytes: number;
  readonly digest: string;
  readonly redacted: number;
}

export function renderQuestion(question: ApprovalQuestion, redact?: Redact): RenderedQuestion {
  const { identity } = question;
  const line = (text: string): string => escapeHidden(text);
  return {
    title: line(question.title),
    description: escapeHidden(question.description, true),
    reasons: question.reasons.map(line),
    ...(question.detail === undefined ? {} : { detail: escapeHidden(question.detail, true) }),
    severity: question.severity,
    tool: question.tool,
    toolDigest: question.toolDigest,
    requester: line(`${identity.subject} (tenant ${identity.tenant}), agent ${identity.agent}`),
    askers: question.askers.map(({ kind, id }) => line(`${kind} ${id}`)),
    arguments: renderArguments(question.arguments, redact),
    decisions: question.decisions,
    quorum: question.quorum,
    binding: question.binding,
  };
}

export function renderArguments(canonicalArguments: string, redact: Redact = () => false): RenderedArguments {
  const parsed = parseStrictJson(canonicalArguments);
  const writer = new ValueWriter(redact);
  // Never from us; shown all the same, because it is what would run.
  const text = parsed.ok ? writer.write(parsed.value, '', '') : escapeHidden(canonicalArguments);
  return {
    text,
    bytes: Buffer.byteLength(canonicalArguments),
    digest: argumentsDigest(canonicalArguments),
    redacted: writer.redacted,
  };
}

/** Writes values in canonical order: keys by their UTF-16 units, numbers as RFC 8785 has them. */
class ValueWriter {
  redacted = 0;
  readonly #redact: Redact;

  constructor(redact: Redact) {
    this.#redact = redact;
  }

  write(value: JsonValue, pointer: string, indent: string): string {
    const redacted = this.#redact(pointer, value);
    if (redacted !== false) {
      this.redacted += 1;
      return redacted === true
        ? `[redacted, ${Buffer.byteLength(canonicalJson(value))} bytes]`
        : escapeHidden(redacted);
    }
    if (Array.isArray(value)) return this.#list(value, pointer, indent);
    if (isJsonObject(value)) return this.#object(value, pointer, indent);
    return typeof value === 'string' ? toVisibleJsonString(value) : canonicalJson(value);
  }

  #list(values: readonly JsonValue[], pointer: string, indent: string): string {
    const inner = `${indent}  `;
    const lines = values.map((value, index) => inner + this.write(value, `${pointer}/${index}`, inner));
    return lines.length === 0 ? '[]' : `[\n${lines.join(',\n')}\n${indent}]`;
  }

  #object(object: JsonObject, pointer: string, indent: string): string {
    const inner = `${indent}  `;
    const lines = Object.keys(object)
      .sort()
      .map((key) => {
        const value = this.write(object[key]!, `${pointer}/${escapePointer(key)}`, inner);
        return `${inner}${toVisibleJsonString(key)}: ${value}`;
      });
    return lines.length === 0 ? '{}' : `{\n${lines.join(',\n')}\n${indent}}`;
  }
}

/** RFC 6901. */
function escapePointer(key: string): string {
  return key.replaceAll('~', '~0').replaceAll('/', '~1');
}
